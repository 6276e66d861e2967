#include "kernelfields/core/checksum.hpp"
#include "arrays.hpp"

namespace kernelfields::bindings {
namespace {

template <std::uint32_t (*function)(const std::uint8_t*, std::size_t, std::uint32_t)>
std::uint32_t of_bytes(const In<std::uint8_t>& bytes, std::uint32_t before) {
    const std::size_t size = length_of(bytes, "bytes");
    nb::gil_scoped_release release;
    return function(bytes.data(), size, before);
}

}  // namespace

void add_checksum(nb::module_& m) {
    using namespace nb::literals;
    const auto bytes = nb::arg("bytes").noconvert();
    m.def("checksum", &of_bytes<checksum>, bytes, "before"_a);
    m.def("plain_checksum", &of_bytes<plain_checksum>, bytes, "before"_a);
}

}  // namespace kernelfields::bindings
