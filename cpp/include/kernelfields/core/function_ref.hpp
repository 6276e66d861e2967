// A function that somebody else keeps: a pointer to it and one to what calls it. It spares those who take functions
// from being compiled for each of them, where calls are few.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace kernelfields {

template <class Signature> class FunctionRef;

// Valid as long as the function is: as a parameter, until the call returns.
template <class Result, class... Arguments> class FunctionRef<Result(Arguments...)> {
public:
    template <class Function>
        requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef>)
    FunctionRef(Function&& function)
        : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
          call_([](void* f, Arguments... arguments) -> Result {
              return (*static_cast<std::remove_reference_t<Function>*>(f))(std::forward<Arguments>(arguments)...);
          }) {}

    Result operator()(Arguments... arguments) const { return call_(function_, std::forward<Arguments>(arguments)...); }

private:
    void* function_;
    Result (*call_)(void*, Arguments...);
};

}  // namespace kernelfields
