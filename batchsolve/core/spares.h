// Moves that searches lend each other: copying the links of a large problem takes longer than a
// short task.
#pragma once

#include <memory>
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

/// Return a function that searches tasks of a problem by dancing links.
template <class Links>
PreparedLinks prepared(const Problem& problem, std::span<const std::uint32_t> handicaps) {
    const auto spares = std::make_shared<Spares<Links>>(Links(problem, handicaps));
    return {[spares, n_options = problem.n_options()](const Task& task) {
        return spares->lend([&](Links& links) { return search_with(links, task, n_options); });
    }};
}

}  // namespace batchsolve
