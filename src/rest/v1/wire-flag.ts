/** A truth value as version 1 writes it. */
export const wireFlag = (value: boolean): 0 | 1 => (value ? 1 : 0);
