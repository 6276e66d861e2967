#include "kernelfields/core/checksum.hpp"
#include "arrays.hpp"

namespace kernelfields::bindings {
namespace {

std::uint32_t checksum(const In<std::uint8_t>& bytes, std::uint32_t before) {
    const std::size_t size = length_of(bytes, "bytes");
    if (size == 0 || size % kFoldedBlock != 0)
        throw std::invalid_argument("bytes has " + std::to_string(size) + " entries, expected a multiple of 64.");
    nb::gil_scoped_release release;
    return folded_checksum(bytes.data(), size / kFoldedBlock, before);
}

}  // namespace

void add_checksum(nb::module_& m) {
    using namespace nb::literals;
    m.def("folds_checksums", &folds_checksums);
    m.def("folded_checksum", &checksum, nb::arg("bytes").noconvert(), "before"_a);
}

}  // namespace kernelfields::bindings
