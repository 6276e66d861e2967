#include "arrays.hpp"

#include <limits>
#include <stdexcept>

namespace kernelfields::bindings {

std::string text_of(Extents shape) {
    std::string text = "(";
    for (std::size_t k = 0; k < shape.count; ++k) text += (k ? ", " : "") + std::to_string(shape.extent[k]);
    return text + ")";
}

void require_extents(Extents found, const char* name, std::initializer_list<std::size_t> shape) {
    bool same = found.count == shape.size();
    std::string wanted = "(";
    std::size_t k = 0;
    for (std::size_t extent : shape) {
        same = same && static_cast<std::size_t>(found.extent[k]) == extent;
        wanted += (k ? ", " : "") + std::to_string(extent);
        ++k;
    }
    if (!same)
        throw std::invalid_argument(std::string(name) + " has shape " + text_of(found) + ", expected " + wanted + ").");
}

std::size_t require_vector(Extents found, const char* name) {
    if (found.count != 1)
        throw std::invalid_argument(std::string(name) + " has shape " + text_of(found) + ", expected a vector.");
    return static_cast<std::size_t>(found.extent[0]);
}

std::size_t bytes_of(std::size_t number, std::initializer_list<std::size_t> shape) {
    constexpr std::size_t kMost = std::numeric_limits<std::ptrdiff_t>::max();
    std::size_t most = kMost / number, size = 1;
    std::string text;
    for (std::size_t extent : shape) {
        if (extent == 0) return 0;
        text += (text.empty() ? "(" : ", ") + std::to_string(extent);
    }
    for (std::size_t extent : shape) {
        if (extent > most) throw MemoryShortage("An array of shape " + text + ") is larger than memory can be.");
        most /= extent;
        size *= extent;
    }
    return size * number;
}

void require_offsets(const In<std::int64_t>& offsets, const char* name, std::size_t total) {
    if (offsets.ndim() != 1 || offsets.shape(0) < 1 || offsets.data()[0] != 0)
        throw std::invalid_argument(std::string(name) + " must be a vector that starts with 0.");
    const std::size_t count = offsets.shape(0) - 1;
    for (std::size_t s = 0; s < count; ++s)
        if (offsets.data()[s + 1] < offsets.data()[s])
            throw std::invalid_argument(std::string(name) + " falls after entry " + std::to_string(s) + ".");
    if (static_cast<std::size_t>(offsets.data()[count]) != total)
        throw std::invalid_argument(std::string(name) + " ends at " + std::to_string(offsets.data()[count]) +
                                    ", but there are " + std::to_string(total) + " rows.");
}

bool all_below(const std::int32_t* index, std::size_t count, std::size_t bound) {
    const auto most = static_cast<std::uint32_t>(bound < 0x80000000u ? bound : 0x80000000u);
    std::uint32_t wrong = 0;  // no branches, so that the loop costs next to nothing
    for (std::size_t k = 0; k < count; ++k) wrong |= static_cast<std::uint32_t>(index[k]) >= most;
    return wrong == 0;
}

void require_below(const In<std::int32_t>& index, const char* name, std::size_t bound) {
    const std::size_t count = length_of(index, name);
    if (all_below(index.data(), count, bound)) return;
    for (std::size_t k = 0; k < count; ++k)
        if (index.data()[k] < 0 || static_cast<std::size_t>(index.data()[k]) >= bound)
            throw std::invalid_argument(std::string(name) + " holds " + std::to_string(index.data()[k]) + " at entry " +
                                        std::to_string(k) + ", but there are " + std::to_string(bound) + ".");
}

void require_labels(const In<std::int32_t>& labels, std::size_t positions, std::size_t L) {
    require_shape(labels, "labels", {positions});
    for (std::size_t t = 0; t < positions; ++t)
        if (labels.data()[t] < 0 || static_cast<std::size_t>(labels.data()[t]) >= L)
            throw std::invalid_argument("labels holds " + std::to_string(labels.data()[t]) + " at position " +
                                        std::to_string(t) + ", expected 0 to " + std::to_string(L - 1) + ".");
}

}  // namespace kernelfields::bindings
