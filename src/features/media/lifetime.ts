import { DAY } from '../../platform/clock.ts';

/** The network forgets an upload after 30 days (cloud-api §5). */
const UPLOAD_DAYS = 30;
/** A file that ends sooner is not sent any more: its message may wait in a queue. */
const SPARE_DAYS = 1;

/** When a file that is uploaded now ends; counted from before it was, to be on the safe side. */
export const uploadEnd = (nowMs: number): string => new Date(nowMs + UPLOAD_DAYS * DAY).toISOString();

/** Files that end before this are as good as gone for sending. */
export const sendableUntil = (nowMs: number): string => new Date(nowMs + SPARE_DAYS * DAY).toISOString();
