/** The first day (UTC) of the month of an instant, for example 2026-12-01. */
export const monthOf = (nowMs: number): string => `${new Date(nowMs).toISOString().slice(0, 7)}-01`;
