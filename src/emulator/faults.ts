import { z } from 'zod';

/** A Boolean, or a probability (0 to 1). */
const probability = z.union([z.boolean(), z.number().min(0).max(1)]).transform(Number);
const errorCode = z.int().min(0);

const nextFault = z
  .strictObject({
    /** Rejects the message with this error code and the network's HTTP status for it (or `httpStatus`). */
    errorCode: errorCode.optional(),
    /** Responds with a status and a foreign body, like a load balancer. */
    httpStatus: z.int().min(300).max(599).optional(),
    /** Accepts with 200, then reports failure with this code by webhook. */
    asyncErrorCode: errorCode.optional(),
    /** No response; the connection stays open. */
    timeout: z.boolean().optional(),
    /** The connection is reset (RST). */
    reset: z.boolean().optional(),
    /** Delays the response. */
    latencyMs: z.int().min(0).optional(),
    /** Whether the message is accepted before the fault occurs. */
    when: z.enum(['before', 'after']).default('before'),
    /** Number of affected sends. */
    count: z.int().min(1).default(1),
    /** Affects only sends to this number (compared by digits). */
    to: z.string().optional(),
  })
  .refine(
    f =>
      [f.errorCode, f.httpStatus, f.asyncErrorCode, f.timeout, f.reset, f.latencyMs].some(value => value !== undefined),
    {
      error: 'contains no fault: set errorCode, httpStatus, asyncErrorCode, timeout, reset or latencyMs',
    },
  );

const faults = z.strictObject({
  /** Faults for the next sends, in order; patches append, an empty list clears. */
  next: z.array(nextFault),
  /** Delay of every response to a send. */
  latencyMs: z.int().min(0),
  /** Probability that a status is never posted. */
  dropStatuses: probability,
  /** Probability that a webhook update is posted twice. */
  duplicate: probability,
  /** Posts the statuses of a message in reverse order: read, delivered, sent. */
  reorder: z.boolean(),
  /** `grouped`: many updates per change; `spread`: several entries and changes per POST; `single`: one update per POST. */
  batch: z.union([z.enum(['grouped', 'spread', 'single']), z.boolean().transform(on => (on ? 'spread' : 'single'))]),
  /** Maximum number of concurrent webhook POSTs. */
  webhookConnections: z.int().min(1).max(1_000),
  /** Whether recipients have read receipts enabled. */
  readReceipts: z.boolean(),
  /** Probability that a message is read at once: the network then omits `delivered`. */
  skipDelivered: probability,
  /** Posts the first status, and awaits its response, before responding to the send. */
  statusBeforeAnswer: z.boolean(),
  /** Accepts every message, then reports failure with this code by webhook. */
  asyncErrorCode: errorCode.nullable(),
  /** `\/` and `\uXXXX` in webhook bodies. */
  escape: z.boolean(),
  /** `strict`: a free-form message outside the 24 h window is accepted, then fails with 131047. */
  window: z.enum(['strict', 'open']),
  /** 131056 above one message in 6 s to one person (burst 45). */
  pairLimit: z.boolean(),
  /** 130429 above the throughput of a number. */
  throughputLimit: z.boolean(),
  /** Prepends the business's country code to numbers without a plus. */
  prependCountryCode: z.boolean(),
  /** `wa_id` differs from the number in Brazil, Mexico and Argentina. */
  rewriteWaIds: z.boolean(),
  /** Business-scoped user ids in webhooks. */
  userIds: z.boolean(),
  /** Whether tokens may read the owner of a business account; otherwise error 200, as without Advanced access. */
  ownerInfo: z.boolean(),
  /** `estimated_time_to_regain_access` in the usage header of refusals, minutes. */
  regainAccessMinutes: z.int().min(0),
  /** Result of the review of a new template. */
  templateReview: z.enum(['approve', 'reject', 'manual']),
  /** Validity of a media URL in seconds. */
  mediaUrlSeconds: z.number().min(0),
  /** Rejects uploads (after reading them) and media look-ups with this code. */
  mediaErrorCode: errorCode.nullable(),
  /** Resets the connection of an upload or download after this many bytes of its body. */
  mediaBreaksAfter: z.int().min(0).nullable(),
  /** Transfer rate of uploads and downloads. */
  mediaBytesPerSecond: z.int().min(1).nullable(),
  /** Whether `Range` is supported. */
  mediaRanges: z.boolean(),
  /** Answers downloads with this page and status 200, as proxies do. */
  mediaPage: z.string().nullable(),
});

export const faultsPatch = faults.partial();
export type FaultsPatch = z.input<typeof faultsPatch>;
export type Faults = z.output<typeof faults>;
export type NextFault = z.output<typeof nextFault>;

/** Defaults: all traits that reveal bugs are on, no faults. */
const DEFAULTS: Faults = {
  next: [],
  latencyMs: 0,
  dropStatuses: 0,
  duplicate: 0,
  reorder: false,
  batch: 'grouped',
  webhookConnections: 4,
  readReceipts: true,
  skipDelivered: 0,
  statusBeforeAnswer: false,
  asyncErrorCode: null,
  escape: true,
  window: 'strict',
  pairLimit: true,
  throughputLimit: true,
  prependCountryCode: true,
  rewriteWaIds: true,
  userIds: true,
  ownerInfo: true,
  regainAccessMinutes: 0,
  templateReview: 'approve',
  mediaUrlSeconds: 300,
  mediaErrorCode: null,
  mediaBreaksAfter: null,
  mediaBytesPerSecond: null,
  mediaRanges: true,
  mediaPage: null,
};

export interface FaultControl {
  readonly current: Readonly<Faults>;
  /** Merges a patch that `faultsPatch` has checked. */
  merge(patch: z.output<typeof faultsPatch>): void;
  /** Restores the state from the start. */
  reset(): void;
  /** Returns the fault for this send and counts it down. @param to digits */
  take(to: string): NextFault | undefined;
}

export function createFaultControl(initial: FaultsPatch = {}): FaultControl {
  const start = merged(DEFAULTS, faultsPatch.parse(initial));
  let current: Faults = structuredClone(start);
  return {
    get current() {
      return current;
    },
    merge(patch) {
      current = merged(current, patch);
    },
    reset() {
      current = structuredClone(start);
    },
    take(to) {
      const fault = current.next.find(f => f.to === undefined || f.to.replace(/\D/g, '') === to);
      if (!fault) return undefined;
      fault.count -= 1;
      if (fault.count === 0) current.next.splice(current.next.indexOf(fault), 1);
      return fault;
    },
  };
}

/** Merges a patch: `next` is appended to, all other fields are replaced. */
function merged(base: Faults, patch: z.output<typeof faultsPatch>): Faults {
  const { next, ...rest } = patch;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...base, ...given, next: next?.length === 0 ? [] : [...base.next, ...(next ?? [])] };
}

/** A random decision with a probability: never at 0, always at 1. */
export function occurs(probability: number): boolean {
  return probability > 0 && Math.random() < probability;
}
