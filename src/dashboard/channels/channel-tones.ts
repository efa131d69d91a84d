/** Tones of a chip, by what the network says about a number: whether it may send (`canSend`), and its quality. */
export const AVAILABILITY_TONES = { AVAILABLE: 'good', LIMITED: 'warning', BLOCKED: 'danger', UNKNOWN: '' } as const;
export const QUALITY_TONES = { GREEN: 'good', YELLOW: 'warning', RED: 'danger', UNKNOWN: '' } as const;
