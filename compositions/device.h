// A runner's access to the GPU: the CUDA driver, loaded when it is first wanted, in the device's primary
// context.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace runner {

/// A failed call throws std::runtime_error with the driver's text.
class Device {
 public:
  /// `image`: a cubin or fatbin with the kernels that `run` launches, or null.
  explicit Device(const void* image);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  std::string name() const;
  std::uint64_t allocate(std::size_t bytes);  ///< freed with the device
  void set(std::uint64_t to, unsigned char value, std::size_t bytes);
  void read(void* to, std::uint64_t from, std::size_t bytes);
  void write(std::uint64_t to, const void* from, std::size_t bytes);
  void synchronize();

  /// A kernel of the image, on the default stream. Arguments are passed by value.
  template <class... A>
  void run(const char* kernel, unsigned grid_x, unsigned grid_y, unsigned threads, A... arguments) {
    void* pointers[] = {&arguments...};
    launch(kernel, grid_x, grid_y, threads, pointers);
  }

 private:
  void launch(const char* kernel, unsigned grid_x, unsigned grid_y, unsigned threads, void** arguments);
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace runner
