import { CodedError, unauthorized } from '../../errors.ts';
import type { Dialect } from '../execute.ts';
import type { Refusal } from '../refusal.ts';
import { paginate } from './paginator.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
/** In seconds since 1970 (RFC 9745): from its first day here, 1 January 2026, version 1 is for those who have it. */
const DEPRECATED_SINCE = Date.UTC(2026, 0, 1) / 1_000;
const PREFIX = '/api/v1';
const SUCCESSOR = '/api/v2';
/** The tenant's name in the path of every route. */
const BELOW = '/:tenant';

/** Where a path of version 1 leads in version 2, by the paths of the table. */
export type Successors = ReadonlyMap<string, string>;

/**
 * Version 1: the tenant in the path, `status`, `message` and `data` or `errors`, and on every answer that there is a successor.
 * @param sunsetMs when it ends, in milliseconds since 1970; undefined: nobody has said so
 */
export const legacyEnvelope = (sunsetMs: number | undefined, successors: Successors = new Map()): Dialect => ({
  version: 'v1',
  below: BELOW,

  // The token first: who has none is not told which tenants there are. Who has one hears of another tenant what an invalid token hears.
  async admit(host, request, reply) {
    const caller = await host.authenticate(request, reply);
    const { tenant = '' } = request.params;
    if (caller.principal?.tenant.slug === tenant) return caller;
    if (await host.isTenant(tenant)) throw unauthorized();
    throw new CodedError('BAD_REQUEST', 'There is no such tenant: the address has to name it after /api/v1/.');
  },

  headers({ routeOptions: { url = '' }, params }) {
    const path = url.startsWith(PREFIX + BELOW) ? successors.get(url.slice((PREFIX + BELOW).length)) : openPath(url);
    const id = (params as { readonly id?: string } | undefined)?.id ?? '';
    const link = SUCCESSOR + (path ?? '').replace(':id', encodeURIComponent(id));
    return {
      deprecation: `@${DEPRECATED_SINCE}`,
      link: `<${link}>; rel="successor-version"`,
      ...(sunsetMs !== undefined && { sunset: new Date(sunsetMs).toUTCString() }),
    };
  },

  success({ data, message, page }, call) {
    const shown = page ? paginate(page, Array.isArray(data) ? data : [], call) : data;
    return { status: 'success', message, data: shown };
  },

  failure: (refusal, _request, { requestId }) => ({ contentType: JSON_TYPE, body: bodyOf(refusal, requestId) }),
});

/** What both versions serve beside their tables: `/openapi.json`, `/docs`. */
const openPath = (url: string): string | undefined =>
  url.startsWith(`${PREFIX}/`) && !url.includes('*') ? url.slice(PREFIX.length) : undefined;

function bodyOf(refusal: Refusal, requestId: string): object {
  const { code, message, details } = refusal;
  if (code === 'RATE_LIMIT_EXCEEDED') return { message, retry_after: details?.['retry_after'] ?? 1 };
  if (code === 'VALIDATION_ERROR') return { status: 'error', message, errors: details ?? {} };
  return { status: 'error', message: titleOf(code), errors: whyOf(refusal, requestId) };
}

/** One message for each code, for programs: `Contact opted out`. */
export const titleOf = (code: string): string =>
  code.charAt(0) + code.slice(1).toLowerCase().replaceAll('_', ' ').replace('otp', 'OTP');

/** What version 2 has in `details`, where people are told too little without. */
function whyOf({ code, message, details }: Refusal, requestId: string): string {
  switch (code) {
    case 'INTERNAL_ERROR':
      return `${message} The request was ${requestId}.`;
    case 'MESSAGE_SEND_FAILED': {
      const { code: number, details: why } = (details?.['provider'] ?? {}) as { code?: number; details?: string };
      // Its details often only repeat its title.
      return number === undefined
        ? message
        : `${message} (${number}${why && !message.includes(why) ? `: ${why}` : ''})`;
    }
    default:
      return message;
  }
}
