import type { TextKey } from '../texts/texts.tsx';

/** Texts of the network's most frequent error codes. */
const REASONS: Readonly<Record<number, TextKey>> = {
  130429: 'reason.tooFast',
  130472: 'reason.experiment',
  131026: 'reason.undeliverable',
  131031: 'reason.locked',
  131042: 'reason.payment',
  131047: 'reason.window',
  131049: 'reason.marketing',
  131050: 'reason.stopped',
  131051: 'reason.unsupported',
  131052: 'reason.media',
  131053: 'reason.media',
  131056: 'reason.tooFast',
  132000: 'reason.parameters',
  132001: 'reason.template',
  132012: 'reason.parameters',
  132015: 'reason.template',
  132016: 'reason.template',
};

export const reasonOf = (code: number | null): TextKey =>
  code === null ? 'reason.none' : (REASONS[code] ?? 'reason.other');
