#include "linker/place/pq_tree.h"

#include <algorithm>

#include "linker/place/random.h"

namespace pipelink::place {
namespace {

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9fb21c651e98df25ULL;
  return a ^ (a >> 31);
}

PqTree make(bool fixed, std::vector<PqTree> parts) {
  if (parts.size() == 1) return parts.front();
  PqNode node;
  node.fixed = fixed && parts.size() > 2;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    node.freedom += parts[k]->freedom;
    if (!node.fixed) node.freedom += logarithm(k + 1);
  }
  std::uint64_t forth = parts.size(), back = forth;
  if (node.fixed) {
    node.freedom += logarithm(2);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      forth = mix(forth, parts[k]->shape);
      back = mix(back, parts[parts.size() - 1 - k]->shape);
    }
    node.shape = mix(std::min(forth, back), 2);
  } else {
    std::vector<std::uint64_t> shapes;
    for (const PqTree& part : parts) shapes.push_back(part->shape);
    std::sort(shapes.begin(), shapes.end());
    for (std::uint64_t s : shapes) forth = mix(forth, s);
    node.shape = mix(forth, 1);
  }
  node.parts = std::move(parts);
  return std::make_shared<const PqNode>(std::move(node));
}

enum class Mark { kNone, kSome, kAll };

class Replacing {
 public:
  Replacing(const std::vector<bool>& marked, const PqTree& block) : marked_(marked), block_(block) {}

  Mark mark(const PqTree& tree) const {
    if (tree->leaf >= 0) return marked_[tree->leaf] ? Mark::kAll : Mark::kNone;
    bool none = true, all = true;
    for (const PqTree& part : tree->parts) {
      const Mark m = mark(part);
      none = none && m == Mark::kNone;
      all = all && m == Mark::kAll;
      if (!none && !all) return Mark::kSome;
    }
    return none ? Mark::kNone : all ? Mark::kAll : Mark::kSome;
  }

  // The tree has all that is marked.
  PqTree whole(const PqTree& tree) const {
    std::vector<Mark> marks;
    std::size_t first = tree->parts.size(), last = 0;
    bool all = true;
    for (std::size_t k = 0; k < tree->parts.size(); ++k) {
      marks.push_back(mark(tree->parts[k]));
      if (marks[k] != Mark::kAll) all = false;
      if (marks[k] == Mark::kNone) continue;
      first = std::min(first, k);
      last = k;
    }
    if (all) return block_;
    std::vector<PqTree> parts;
    if (first == last) {
      const PqTree inner = whole(tree->parts[first]);
      if (!inner) return nullptr;
      parts = tree->parts;
      parts[first] = inner;
      return make(tree->fixed, std::move(parts));
    }
    if (tree->fixed) {
      parts.assign(tree->parts.begin(), tree->parts.begin() + static_cast<std::ptrdiff_t>(first));
      if (marks[first] == Mark::kSome && !side(tree->parts[first], parts)) return nullptr;
      parts.push_back(block_);
      for (std::size_t k = first + 1; k < last; ++k)
        if (marks[k] != Mark::kAll) return nullptr;
      if (marks[last] == Mark::kSome && !other_side(tree->parts[last], parts)) return nullptr;
      parts.insert(parts.end(), tree->parts.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                   tree->parts.end());
      return make(true, std::move(parts));
    }
    std::vector<PqTree> around;
    int some = 0;
    for (std::size_t k = 0; k < tree->parts.size(); ++k) {
      if (marks[k] == Mark::kNone) around.push_back(tree->parts[k]);
      if (marks[k] != Mark::kSome) continue;
      if (++some > 2) return nullptr;
      if (some == 2) parts.push_back(block_);
      if (!(some == 1 ? side(tree->parts[k], parts) : other_side(tree->parts[k], parts))) return nullptr;
    }
    if (some < 2) parts.push_back(block_);
    around.push_back(make(true, std::move(parts)));
    return make(false, std::move(around));
  }

 private:
  // Appends the parts that are not marked, those last that are next to the marked ones.
  bool side(const PqTree& tree, std::vector<PqTree>& parts) const {
    const PqTree* partial = nullptr;
    std::vector<PqTree> outer;
    if (tree->fixed) {
      std::vector<PqTree> row = tree->parts;
      if (mark(row.front()) == Mark::kAll || mark(row.back()) == Mark::kNone)
        std::reverse(row.begin(), row.end());
      std::size_t k = 0;
      while (k < row.size() && mark(row[k]) == Mark::kNone) parts.push_back(row[k++]);
      if (k < row.size() && mark(row[k]) == Mark::kSome && !side(row[k++], parts)) return false;
      return std::all_of(row.begin() + static_cast<std::ptrdiff_t>(k), row.end(),
                         [&](const PqTree& t) { return mark(t) == Mark::kAll; });
    }
    for (const PqTree& part : tree->parts) {
      const Mark m = mark(part);
      if (m == Mark::kNone) outer.push_back(part);
      if (m != Mark::kSome) continue;
      if (partial) return false;
      partial = &part;
    }
    if (!outer.empty()) parts.push_back(make(false, std::move(outer)));
    return !partial || side(*partial, parts);
  }

  bool other_side(const PqTree& tree, std::vector<PqTree>& parts) const {
    std::vector<PqTree> row;
    if (!side(tree, row)) return false;
    parts.insert(parts.end(), row.rbegin(), row.rend());
    return true;
  }

  const std::vector<bool>& marked_;
  const PqTree& block_;
};

struct Ordered {
  std::int64_t least, most;
  std::vector<int> elements;
  std::int64_t middle() const { return least + most; }
};

Ordered ordered(const PqTree& tree, const std::vector<std::int64_t>& key) {
  if (tree->leaf >= 0) return {key[tree->leaf], key[tree->leaf], {tree->leaf}};
  std::vector<Ordered> parts;
  for (const PqTree& part : tree->parts) parts.push_back(ordered(part, key));
  if (!tree->fixed) {
    std::stable_sort(parts.begin(), parts.end(),
                     [](const Ordered& a, const Ordered& b) { return a.middle() < b.middle(); });
  } else if (parts.front().middle() > parts.back().middle()) {
    std::reverse(parts.begin(), parts.end());
  }
  Ordered result = std::move(parts.front());
  for (std::size_t k = 1; k < parts.size(); ++k) {
    result.least = std::min(result.least, parts[k].least);
    result.most = std::max(result.most, parts[k].most);
    result.elements.insert(result.elements.end(), parts[k].elements.begin(), parts[k].elements.end());
  }
  return result;
}

}  // namespace

PqTree pq_leaf(int element, std::uint64_t label) {
  PqNode node;
  node.leaf = element;
  node.shape = mix(label, 3);
  return std::make_shared<const PqNode>(std::move(node));
}

PqTree pq_any(std::vector<PqTree> parts) {
  return make(false, std::move(parts));
}

PqTree pq_replace(const PqTree& tree, const std::vector<bool>& marked, const PqTree& block) {
  if (tree->leaf >= 0) return block;
  return Replacing(marked, block).whole(tree);
}

void pq_order(const PqTree& tree, const std::vector<std::int64_t>& key, std::vector<int>& elements) {
  const Ordered all = ordered(tree, key);
  elements.insert(elements.end(), all.elements.begin(), all.elements.end());
}

}  // namespace pipelink::place
