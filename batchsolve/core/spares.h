// Moves that searches lend each other: copying the links of a large problem takes longer than a
// short task.
#pragma once

#include <mutex>

#include "engines.h"
#include "search.h"

namespace batchsolve {

/// Moves of a problem, and copies of them that no search uses. A search leaves them as it found
/// them, but for the stack that is selected.
template <class Moves>
class Spares {
public:
    explicit Spares(Moves moves) : first_(std::move(moves)) {}

    /// Call a function with moves that no other thread uses meanwhile.
    auto lend(auto function) {
        std::unique_ptr<Moves> moves = take();
        if (!moves) moves = std::make_unique<Moves>(first_);
        auto result = function(*moves);
        const std::lock_guard guard(lock_);
        idle_.push_back(std::move(moves));
        return result;
    }

private:
    std::unique_ptr<Moves> take() {
        const std::lock_guard guard(lock_);
        if (idle_.empty()) return {};
        auto moves = std::move(idle_.back());
        idle_.pop_back();
        return moves;
    }

    const Moves first_;
    std::mutex lock_;
    std::vector<std::unique_ptr<Moves>> idle_;
};

template <class Links>
class SpareLinks : public PreparedLinks {
public:
    SpareLinks(const Problem& problem, std::span<const std::uint32_t> handicaps)
        : links_(Links(problem, Handicaps(problem, handicaps))) {}

    Outcome search(const Task& task) const override {
        return links_.lend([&](Links& links) { return search_with(links, task); });
    }

private:
    mutable Spares<Links> links_;
};

}  // namespace batchsolve
