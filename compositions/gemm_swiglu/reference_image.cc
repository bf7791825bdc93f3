// The images of reference.cu, in the program.
#include <cstddef>

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".globl reference_image\n"
    "reference_image:\n"
    ".incbin \"" REFERENCE_IMAGE
    "\"\n"
    ".popsection\n");
