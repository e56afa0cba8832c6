// Chains of implications between candidates, with the ratings of Sudoku Explainer 1.2.1.
//
// A *node* is a candidate that is *on* (the digit of its cell) or *off*. A *chain* follows weak and
// strong links in turn:
//
// - A *cycle* leads from A on to B off and back, for one digit: one of A and B is on, so cells that
//   see both do not have the digit.
// - A *forcing chain* leads from a candidate to its opposite, which therefore holds.
// - *Cell* and *region forcing chains* lead from all candidates of a cell, or of a digit in a
//   house, to one node, which therefore holds.
//
// X-cycles and X-chains follow one digit; Y-cycles have strong links within cells alone.
//
// All are chains of the least length, whose nodes are counted: each limit of length that a rating
// passes adds 0.1. A chain that loses a node, because singles decide it, has its conclusion
// decided, too. So the rating is still the least level up to which techniques solve the puzzle.
#pragma once

#include "rate/distances.h"
#include "rate/nishio.h"
#include "rate/step.h"
#include "rate/techniques.h"

namespace batchsolve::rate {

class Chains {
public:
    /// Find the easiest chain for each candidate of a board, as far as it may be the easiest of
    /// all, or is no harder than `limit`.
    Chains(Board& board, unsigned limit)
        : board_(board), limit_(limit), links_(board), distances_(links_.size()) {
        found_.resize(links_.size());
        set_bounds();
        find();
    }

    /// The level of the easiest chain; `guess` if no chain helps.
    unsigned level() const { return easiest_; }

    /// Remove what the easiest chains remove, and all others up to the limit.
    void use_all() {
        for (unsigned k = 0; k < links_.size(); ++k) {
            if (found_[k].level <= std::max(easiest_, limit_)) board_.remove(links_.candidate(k));
        }
    }

    /// Remove what the easiest chain removes, and write it into a step.
    void use_easiest(Step& step) {
        const Found best = *std::ranges::min_element(found_, {}, &Found::difficulty);
        explain(best, step);
        for (unsigned k = 0; k < links_.size(); ++k) {
            if (found_[k] == best) board_.remove(links_.candidate(k));
        }
    }

private:
    /// The easiest chain that removes a candidate.
    struct Found {
        unsigned level = guess, nodes = 0;
        // the first node, or the item from all of whose candidates chains lead; the last node
        unsigned source = 0, target = 0;
        std::pair<unsigned, unsigned> difficulty() const { return {level, nodes}; }
        friend bool operator==(const Found&, const Found&) = default;
    };
    static unsigned number_of(Node node) { return 2 * node.k + node.is_on; }
    static Node node_of(unsigned number) { return {number / 2, number % 2 == 1}; }

    bool is_enough(Kind next) const { return easiest_ <= limit_ || easiest_ < level_of(next, 0); }

    /// Return the most nodes that chains of a kind may have.
    unsigned most(Kind kind) const { return most_[static_cast<unsigned>(kind)]; }

    void set_bounds() {
        const unsigned level = std::min(std::max(limit_, easiest_), guess - 1);
        for (unsigned kind = 0; kind < n_kinds; ++kind) {
            most_[kind] = nodes_up_to(static_cast<Kind>(kind), level);
        }
    }

    void find() {
        follow(Along::digits, Kind::x_chain, Kind::x_cycle);
        if (easiest_ <= limit_) return;
        follow(Along::cells, Kind::y_cycle, Kind::y_cycle);
        if (is_enough(Kind::cycle)) return;
        follow(Along::all, Kind::chain, Kind::cycle);
        if (is_enough(Kind::nishio)) return;
        for (unsigned item = 0; item < n_items; ++item) {
            if (count(board_.candidates[item]) > 2) join(item);
        }
        refute();
    }

    /// Note a chain that removes a candidate, if it is easier than the last one.
    void note(unsigned k, const Found& found) {
        if (found.difficulty() >= found_[k].difficulty()) return;
        found_[k] = found;
        if (found.level >= easiest_) return;
        easiest_ = found.level;
        set_bounds();
    }

    /// Note the candidates that a chain to a node removes.
    void conclude(const Found& found) {
        const auto [k, is_on] = node_of(found.target);
        if (!is_on) return note(k, found);
        const auto [cell, digit] = links_.candidate(k);
        for (const unsigned other : elements(board_.candidates[cell] & ~(Bits{1} << digit))) {
            note(links_.number({cell, other}), found);
        }
    }

    /// Find the cycles and forcing chains of some links.
    void follow(Along along, Kind chain, Kind cycle) {
        for (unsigned k = 0; k < links_.size(); ++k) {
            const unsigned longest = std::max(most(chain), most(cycle));
            for (const bool is_on : {true, false}) {
                distances_.find(links_, along, {k, is_on}, longest);
            }
            if (along == Along::cells) continue;
            for (const bool is_on : {false, true}) {
                const Node from{k, is_on}, to{k, !is_on};
                const unsigned nodes = distances_.between(from, to) + 1;
                if (nodes > most(chain)) continue;
                conclude({level_of(chain, nodes), nodes, number_of(from), number_of(to)});
            }
        }
        for (unsigned one = 0; one < links_.size(); ++one) {
            for_each_bit(links_.seen_of_digit(one), [&](std::size_t other) {
                const auto two = static_cast<unsigned>(other);
                if (two < one) return;
                const unsigned nodes = 1 + distances_.between({two, false}, {one, true});
                if (nodes > most(cycle)) return;
                cross(one, two, level_of(cycle, nodes), nodes);
                if (along != Along::all && nodes > 4) {
                    cross_all(one, two, level_of(cycle, nodes), nodes);
                }
            });
        }
    }

    /// Note the candidates that see both of two of their digit, one of which is on.
    void cross(unsigned one, unsigned two, unsigned level, unsigned nodes) {
        const Found found{level, nodes, number_of({one, true}), number_of({two, false})};
        for_each_bit(links_.seen_of_digit(one), [&](std::size_t k) {
            if (has_bit(links_.seen_of_digit(two), k)) note(static_cast<unsigned>(k), found);
        });
    }

    /// Use all least cycles through a weak link: their nodes, in turn on and off.
    ///
    /// The cycles lead from `one` on to `two` off, and back.
    void cross_all(unsigned one, unsigned two, unsigned level, unsigned nodes) {
        const auto from_two = distances_.row({two, false}, true);
        const auto from_two_off = distances_.row({two, false}, false);
        for (unsigned on = 0; on < links_.size(); ++on) {
            const unsigned before = from_two[on];
            const unsigned behind = distances_.between({on, true}, {one, true});
            if (on == one || before + behind != nodes - 1) continue;
            const auto from_on = distances_.row({on, true}, false);
            const unsigned digit = links_.candidate(on).digit;
            for (unsigned off = links_.begin_of(digit); off < links_.begin_of(digit + 1); ++off) {
                if (off == on) continue;
                const unsigned to_one = distances_.between({off, false}, {one, true});
                const unsigned to_on = distances_.between({off, false}, {on, true});
                if (before + from_on[off] + to_one == nodes - 1) cross(on, off, level, nodes);
                if (from_two_off[off] + to_on + behind == nodes - 1) cross(on, off, level, nodes);
            }
        }
    }

    /// Find the nodes to which chains lead from all candidates of an item.
    void join(unsigned item) {
        const Kind kind = item < n_cells ? Kind::cell_chains : Kind::region_chains;
        std::array<std::array<std::uint16_t, most_candidates>, 2> sums;
        for (const bool is_on : {false, true}) std::fill_n(sums[is_on].begin(), links_.size(), 0);
        for (const unsigned element : elements(board_.candidates[item])) {
            const Node source{links_.number(candidate_of(item, element)), true};
            for (const bool is_on : {false, true}) {
                const auto distances = distances_.row(source, is_on);
                for (unsigned target = 0; target < distances.size(); ++target) {
                    sums[is_on][target] =
                        static_cast<std::uint16_t>(sums[is_on][target] + distances[target] + 1);
                }
            }
        }
        for (unsigned target = 0; target < links_.size(); ++target) {
            for (const bool is_on : {false, true}) {
                const unsigned nodes = sums[is_on][target];
                if (nodes > most(kind)) continue;
                conclude({level_of(kind, nodes), nodes, item, number_of({target, is_on})});
            }
        }
    }

    /// Find the candidates that the shortest proofs refute, if these are the easiest chains.
    void refute() {
        for (unsigned level = level_of(Kind::nishio, 0); level < easiest_; ++level) {
            if (ladder[level].kind != Kind::nishio) continue;
            for (unsigned k = 0; k < links_.size(); ++k) {
                const Proofs proofs(board_, links_.candidate(k), nodes_up_to(Kind::nishio, level));
                const unsigned nodes = proofs.n_nodes();
                if (nodes == Proofs::unknown) continue;
                note(k, {level_of(Kind::nishio, nodes), nodes, number_of({k, true}),
                         number_of({k, false})});
            }
        }
    }

    /// Write a chain, or chains, into a step.
    void explain(const Found& found, Step& step) const {
        const Kind kind = ladder[found.level].kind;
        const Node source = node_of(found.source), target = node_of(found.target);
        const bool is_cycle = kind == Kind::x_cycle || kind == Kind::y_cycle || kind == Kind::cycle;
        if (kind == Kind::nishio) {
            write_proofs(links_.candidate(source.k), step);
        } else if (kind == Kind::cell_chains || kind == Kind::region_chains) {
            for (const unsigned element : elements(board_.candidates[found.source])) {
                const unsigned k = links_.number(candidate_of(found.source, element));
                step.chains.emplace_back();
                write_chain(Along::all, {k, true}, target, step);
            }
        } else {
            const Along along = kind == Kind::x_chain || kind == Kind::x_cycle ? Along::digits
                                : kind == Kind::y_cycle                        ? Along::cells
                                                                               : Along::all;
            step.chains.emplace_back();
            write_chain(along, source, target, step);
            if (is_cycle) {
                step.chains.back().pop_back();
                write_chain(along, target, source, step);
            }
        }
    }

    /// Append the nodes of a least chain to the last one of a step.
    void write_chain(Along along, Node from, Node to, Step& step) const {
        for (const auto& [k, is_on] : shortest_chain(links_, along, from, to)) {
            step.note(links_.candidate(k));
            step.chains.back().push_back({links_.candidate(k), is_on});
        }
    }

    /// Write the proofs that refute a candidate into a step: nodes on, and a last one off.
    void write_proofs(Candidate candidate, Step& step) const {
        const Proofs proofs(board_, candidate, most_nodes);
        const unsigned refuted = proofs.refuted_cell();
        for (const unsigned end : {refuted, proofs.refuter_of(refuted)}) {
            step.chains.emplace_back();
            for (const unsigned cell : proofs.order_of(end)) {
                step.note({cell, candidate.digit});
                step.chains.back().push_back({{cell, candidate.digit}, true});
            }
        }
        step.chains.back().push_back({{refuted, candidate.digit}, false});
    }

    Board& board_;
    unsigned limit_, easiest_ = guess;
    std::array<unsigned, n_kinds> most_;  // nodes of chains of each kind that may be the easiest
    Links links_;
    Distances distances_;       // along the links that were followed last
    std::vector<Found> found_;  // for each candidate
};

}  // namespace batchsolve::rate
