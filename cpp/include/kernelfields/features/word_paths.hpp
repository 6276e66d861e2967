// Words to the paths of their clusters in a binary tree.
#pragma once

#include "vocabulary.hpp"

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernelfields {

class WordPaths {
public:
    void add(std::string_view word, std::string path) {
        if (words_.add(word) != static_cast<std::int32_t>(paths_.size()))
            throw std::invalid_argument("A word occurs twice.");
        paths_.push_back(std::move(path));
    }

    std::size_t size() const { return paths_.size(); }

    // The first `bits` of a word's path, or all if it is shorter or `bits` is 0; false if the word has no path.
    bool start_of(std::string_view word, int bits, std::string& out) const {
        const std::int32_t id = words_.find(word);
        if (id == none) return false;
        out = paths_[static_cast<std::size_t>(id)];
        if (bits > 0 && out.size() > static_cast<std::size_t>(bits)) out.resize(static_cast<std::size_t>(bits));
        return true;
    }

private:
    StringPool words_;
    std::vector<std::string> paths_;
};

}  // namespace kernelfields
