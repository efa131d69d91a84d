import type { Filter } from '../../../core/list-args.ts';
import type { ConversationChange } from '../change.ts';

/** The queue of jobs, with a lane for each tenant. */
export const CONVERSATION_JOBS = 'conversation-jobs';

/** An update of many conversations in the background. */
export interface JobRow {
  readonly id: number;
  readonly filter: Filter;
  readonly change: ConversationChange;
  readonly matched_count: number;
  readonly updated_count: number;
  readonly failed_count: number;
  readonly last_id: number;
  readonly max_id: number;
  readonly attempts: number;
  readonly error: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly finished_at: string | null;
}

/** How far a batch has brought a job. */
export interface JobProgress {
  readonly lastId: number;
  readonly updated: number;
  readonly failed: number;
  readonly isFinished: boolean;
}
