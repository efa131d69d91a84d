import type { Context } from '../../context.ts';
import { tenantOf } from '../caller.ts';
import { saveAnswer } from './store.ts';

/** Keeps the REST answer of the request that did the work under its key. */
export async function rememberAnswer(context: Context, answer: unknown): Promise<void> {
  const { key } = context.replay;
  if (key !== undefined) await saveAnswer(context.db.write, tenantOf(context), key, answer);
}
