import { z } from 'zod';

/** Yes, no, or the share of cases (0 to 1). */
const share = z.union([z.boolean(), z.number().min(0).max(1)]).transform(Number);
const errorCode = z.int().min(0);

const nextFault = z
  .strictObject({
    /** Answered at once instead of taking the message, with the HTTP status the network uses for it (or `httpStatus`). */
    errorCode: errorCode.optional(),
    /** A bare status with a body that is none of the network's, as a load balancer answers. */
    httpStatus: z.int().min(300).max(599).optional(),
    /** Taken with 200, then failed by webhook with this code. */
    asyncErrorCode: errorCode.optional(),
    /** No answer at all; the connection stays open. */
    timeout: z.boolean().optional(),
    /** The connection is reset (RST). */
    reset: z.boolean().optional(),
    /** A slow answer. */
    latencyMs: z.int().min(0).optional(),
    /** Whether the message is taken before the fault shows. */
    when: z.enum(['before', 'after']).default('before'),
    /** How many sends it meets. */
    count: z.int().min(1).default(1),
    /** Only sends to this number (digits are compared). */
    to: z.string().optional(),
  })
  .refine(
    f =>
      [f.errorCode, f.httpStatus, f.asyncErrorCode, f.timeout, f.reset, f.latencyMs].some(named => named !== undefined),
    {
      error: 'names no fault: give errorCode, httpStatus, asyncErrorCode, timeout, reset or latencyMs',
    },
  );

const faults = z.strictObject({
  /** Faults for the coming sends, in order; patches append, an empty list clears. */
  next: z.array(nextFault),
  /** Every send is answered this much later. */
  latencyMs: z.int().min(0),
  /** Share of statuses that are never posted. */
  dropStatuses: share,
  /** Share of webhook updates that are posted twice. */
  duplicate: share,
  /** Statuses of a message come in the opposite order: read, delivered, sent. */
  reorder: z.boolean(),
  /** `grouped`: one change holds many updates; `spread`: several entries and changes in one POST; `single`: one update a POST. */
  batch: z.union([z.enum(['grouped', 'spread', 'single']), z.boolean().transform(on => (on ? 'spread' : 'single'))]),
  /** Whether people have read receipts switched on. */
  readReceipts: z.boolean(),
  /** Share of messages that go from sent to read: seen at once, the network leaves `delivered` out. */
  skipDelivered: share,
  /** The first status is posted, and answered, before the send is. */
  statusBeforeAnswer: z.boolean(),
  /** Every message is taken, then fails by webhook with this code. */
  asyncErrorCode: errorCode.nullable(),
  /** `\/` and `\uXXXX` in webhook bodies. */
  escape: z.boolean(),
  /** `strict`: a free-form message outside the 24 h window is taken, then fails with 131047. */
  window: z.enum(['strict', 'open']),
  /** 131056 above one message in 6 s to one person (burst 45). */
  pairLimit: z.boolean(),
  /** 130429 above the throughput of a number. */
  throughputLimit: z.boolean(),
  /** A number without a plus gets the business's country code put before it. */
  prependCountryCode: z.boolean(),
  /** `wa_id` differs from the number in Brazil, Mexico and Argentina. */
  rewriteWaIds: z.boolean(),
  /** Business-scoped user ids in webhooks. */
  userIds: z.boolean(),
  /** `estimated_time_to_regain_access` in the usage header of refusals, minutes. */
  regainAccessMinutes: z.int().min(0),
  /** What becomes of a template that was created. */
  templateReview: z.enum(['approve', 'reject', 'manual']),
  /** How long a media URL works, seconds. */
  mediaUrlSeconds: z.number().min(0),
  /** Uploads are read, then refused with this code; so are questions about media. */
  mediaErrorCode: errorCode.nullable(),
  /** The connection of an upload or a download is reset after so many bytes of its body. */
  mediaBreaksAfter: z.int().min(0).nullable(),
  /** How fast uploads are read and downloads are written. */
  mediaBytesPerSecond: z.int().min(1).nullable(),
  /** Whether `Range` is heard. */
  mediaRanges: z.boolean(),
});

export const faultsPatch = faults.partial();
export type FaultsPatch = z.input<typeof faultsPatch>;
export type Faults = z.output<typeof faults>;
export type NextFault = z.output<typeof nextFault>;

/** The network on a good day: every trait that catches bugs is on, nothing fails. */
const CALM: Faults = {
  next: [],
  latencyMs: 0,
  dropStatuses: 0,
  duplicate: 0,
  reorder: false,
  batch: 'grouped',
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
  regainAccessMinutes: 0,
  templateReview: 'approve',
  mediaUrlSeconds: 300,
  mediaErrorCode: null,
  mediaBreaksAfter: null,
  mediaBytesPerSecond: null,
  mediaRanges: true,
};

export interface FaultBox {
  readonly current: Readonly<Faults>;
  /** Merges a patch that `faultsPatch` has checked. */
  merge(patch: z.output<typeof faultsPatch>): void;
  /** Back to how the emulator was started. */
  reset(): void;
  /** The fault that meets this send, counted down. `to` is digits. */
  take(to: string): NextFault | undefined;
}

export function createFaultBox(initial: FaultsPatch = {}): FaultBox {
  const start = merged(CALM, faultsPatch.parse(initial));
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

/** `next` is a queue and grows; everything else is replaced by what the patch gives. */
function merged(base: Faults, patch: z.output<typeof faultsPatch>): Faults {
  const { next, ...rest } = patch;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return { ...base, ...given, next: next?.length === 0 ? [] : [...base.next, ...(next ?? [])] };
}

/** Whether a case belongs to a share: never at 0, always at 1. */
export function hits(shareOfCases: number): boolean {
  return shareOfCases > 0 && Math.random() < shareOfCases;
}
