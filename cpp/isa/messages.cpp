// The messages of one instruction set, as chain.cpp has the recursions of chains.
#include "kernelfields/isa/messages.hpp"

#define KF_JOIN2(a, b) a##b
#define KF_JOIN(a, b) KF_JOIN2(a, b)

namespace kernelfields {

extern const MessageKernels KF_JOIN(messages_double_, KF_ISA);

const MessageKernels KF_JOIN(messages_double_, KF_ISA) = {
    .width = kWidth<double>,
    .beliefs = beliefs,
    .message = message,
    .mix = mix,
};

}  // namespace kernelfields
