// Tasks and outcomes, as Python passes and gets them.
#pragma once

#include "python/module.h"
#include "task.h"

namespace nanobind::detail {

using batchsolve::Stacks;
using batchsolve::Task;

template <>
struct type_caster<Stacks> : PartsCaster<Stacks, Ints, std::span<const batchsolve::Option>, Ints,
                                         std::span<const std::uint32_t>, Ints, Ints, Ints> {};

template <>
struct type_caster<Task> : PartsCaster<Task, Stacks, std::int64_t, std::int64_t, std::int64_t,
                                       std::int64_t, bool, bool, bool> {};

}  // namespace nanobind::detail
