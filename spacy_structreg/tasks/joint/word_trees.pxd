from libc.stdint cimport int32_t, uint64_t

from spacy_structreg.tasks.segmentation.words cimport WordDecoder, WordState, WordTransitions

cdef enum:
    # So many trees from the top of the stack are seen.
    N_VISIBLE = 3


ctypedef struct TaggedSpan:
    # A word by its characters and the number of its tag; first is -1 if there is none.
    int32_t first
    int32_t end
    int32_t tag


ctypedef struct Child:
    TaggedSpan word
    int32_t label       # of its arc; -1 if there is none


ctypedef struct Children:
    # Those on one side of a word: the outermost, and the one next to it.
    Child outer
    Child inner
    int32_t count


ctypedef struct Tree:
    TaggedSpan word     # its root
    int32_t number      # of that word in the sentence
    Children left
    Children right


ctypedef struct TreeNode:
    # A tree of the stack that is not seen, and what lies below it.
    Tree tree
    int32_t below


ctypedef struct GuideArc:
    # An arc that a guide gives a score, between words by their first characters.
    double score
    int32_t head        # -1 for the root
    int32_t label       # -1 for any
    int32_t following   # the next arc to the same word; -1 if there is none


ctypedef struct WordTreeState:
    WordState word              # `WordTransitions` see this alone
    int32_t is_closed           # whether the current word has ended
    int32_t n_words             # that have ended
    int32_t n_trees             # on the stack
    int32_t below               # the node below those that are seen; -1 if there is none
    double ahead                # of a word that has ended: the guide's best completion
    Tree stack[N_VISIBLE]       # from the top


cdef class WordTreeTransitions(WordTransitions):
    cdef readonly int n_labels
    cdef readonly bint many_roots
    cdef int _end_word          # actions
    cdef int _pop_root
    cdef int _first_arc
    cdef int _first_atom        # of trees
    cdef int _first_anchor
    cdef bint _has_guide_arcs
    cdef GuideArc* _guide_arcs
    cdef int32_t* _first_arcs   # by the first character of a word: the first arc to it, -1 for none
    cdef TreeNode* _nodes
    cdef Py_ssize_t _n_nodes

    cdef int _take_guide_arcs(self, arcs) except -1
    cdef double _guide_score(self, int32_t child, int32_t head, int32_t label) noexcept nogil
    cdef double _best_ahead(self, const WordState* word) noexcept nogil
    cdef void _push(self, WordTreeState* state) noexcept nogil
    cdef void _pop(self, WordTreeState* state) noexcept nogil
    cdef uint64_t _word_atom(self, const TaggedSpan* word) noexcept nogil


cdef class WordTreeDecoder(WordDecoder):
    cdef readonly tuple arc_labels
    cdef readonly str root_label
    cdef readonly object arc_guide
    cdef int _end_word          # of the system
    cdef int _pop_root
    cdef int _first_arc
    cdef int _n_labels
    cdef int32_t* _actions
    cdef int32_t* _stack
    # By the first character of a word: that of its head, -1 for a root, and the label of its arc.
    cdef int32_t* _heads
    cdef int32_t* _labels
    cdef int32_t* _marked_heads
    cdef int32_t* _marked_labels
    cdef int32_t* _kept_places
