/** Refusals of the history and of calls that change many objects. Part of the catalogue. */
export const HISTORY_REFUSALS = {
  changed_since: {
    status: 409,
    error: 'the field was changed again since',
    code: 'changed_since',
    hint: 'Change it by hand, or put back the later change first.',
  },
  undone_before: {
    status: 409,
    error: 'this change was put back already',
    code: 'undone_before',
    hint: 'To repeat the change, put back the row that undid it.',
  },
  cannot_undo: { status: 409, error: 'this change cannot be put back', code: 'cannot_undo' },
  undo_needs: {
    status: 409,
    error: 'an object that this needs is gone',
    code: 'undo_needs',
    hint: 'Put back its deletion first, if that is possible.',
  },
  too_many_lines: {
    status: 400,
    error: 'the file would have more than a million lines',
    code: 'too_many_lines',
    hint: 'Choose a shorter time, or more filters.',
  },
  too_many_objects: {
    status: 400,
    error: 'more than 500 objects',
    code: 'too_many_objects',
    hint: 'Nothing was changed. Name at most 500 objects, or use a narrower filter.',
  },
} as const
