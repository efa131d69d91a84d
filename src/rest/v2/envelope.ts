import type { Call } from '../call.ts';
import type { Dialect, Meta } from '../execute.ts';
import type { Refusal } from '../refusal.ts';
import type { Answer } from '../route.ts';
import { time } from '../wire-time.ts';

const metaOf = ({ requestId, nowMs }: Meta) => ({
  request_id: requestId,
  timestamp: time(new Date(nowMs).toISOString()),
});

/** Version 2: the envelope around every answer, and RFC 9457 for those who ask for it. */
export const envelope: Dialect = {
  version: 'v2',
  admit: (host, request, reply) => host.authenticate(request, reply),

  success({ data, message, page }, call, meta) {
    if (!page) return { success: true, data, message, meta: metaOf(meta) };
    const { pagination, links } = paginate(page, Array.isArray(data) ? data.length : 0, call);
    return { success: true, data, message, links, meta: { ...metaOf(meta), pagination } };
  },

  failure(refusal, request, meta) {
    if (request.headers.accept?.includes(PROBLEM_TYPE))
      return { contentType: PROBLEM_TYPE, body: problem(refusal, request.url, meta) };
    const { code, message, details } = refusal;
    return {
      contentType: 'application/json; charset=utf-8',
      body: { success: false, error: { code, message, ...(details && { details }) }, meta: metaOf(meta) },
    };
  },
};

function paginate({ first, offset, total }: NonNullable<Answer['page']>, rows: number, call: Call) {
  const current = offset / first + 1;
  const last = Math.max(1, Math.ceil(total / first));
  const pagination = {
    current_page: current,
    per_page: first,
    total,
    last_page: last,
    from: rows > 0 ? offset + 1 : null,
    to: rows > 0 ? offset + rows : null,
  };
  const links = {
    first: call.pageUrl(1),
    last: call.pageUrl(last),
    // From beyond the end, the way back leads to the last page there is.
    prev: current > 1 ? call.pageUrl(Math.min(current - 1, last)) : null,
    next: current < last ? call.pageUrl(current + 1) : null,
  };
  return { pagination, links };
}

const PROBLEM_TYPE = 'application/problem+json';

/** RFC 9457 §3: the code is the type, the request its occurrence. */
const problem = ({ code, status, message, details }: Refusal, url: string, { requestId }: Meta) => ({
  type: `urn:parley:error:${code.toLowerCase()}`,
  title: code.charAt(0) + code.slice(1).toLowerCase().replaceAll('_', ' '),
  status,
  detail: message,
  instance: url.split('?', 1)[0],
  code,
  ...(details && { [code === 'VALIDATION_ERROR' ? 'errors' : 'details']: details }),
  request_id: requestId,
});
