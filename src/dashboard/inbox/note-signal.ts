/** A note was written: lists of notes read theirs again. */
export const NOTES_CHANGED = 'parley:notes-changed';
