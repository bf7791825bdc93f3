// The images of reference.cu, in the program.
#include <cstddef>

asm(".pushsection .rodata\n"
    ".balign 64\n"
    ".globl attention_reference_image\n"
    "attention_reference_image:\n"
    ".incbin \"" REFERENCE_IMAGE
    "\"\n"
    ".popsection\n");
