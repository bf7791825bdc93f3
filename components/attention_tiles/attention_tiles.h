// What host and device of the components all_tiles, causal_tiles, sparse_tiles and document_tiles share. Each
// decides which tiles of keys each tile of queries meets. The last query of a sequence is at its last key.
#pragma once

namespace attention_tiles {

/// Filled by the caller, as all that follow.
struct Shape {
  unsigned sequences, rows, heads;
  unsigned keys;            ///< of each sequence, if `lengths` is null
  const unsigned* lengths;  ///< [sequences]: keys of each, or null
};

struct Causal {
  Shape shape;
  unsigned window;  ///< a query sees so many keys, its own among them; 0: all up to its own
};

/// Which tiles of keys, as a block mask in lists: `indices` are in order, below ceil(keys / tile).
struct Sparse {
  Shape shape;
  const unsigned* counts;   ///< [heads, tiles of queries]
  const unsigned* indices;  ///< [heads, tiles of queries, stride], of which the first `counts` count
  unsigned stride;
};

/// One sequence of documents end to end. A query sees the keys of its document up to its own.
struct Documents {
  Shape shape;            ///< rows is keys
  const unsigned* first;  ///< [rows]: first position of the document that the position is of
};

}  // namespace attention_tiles
