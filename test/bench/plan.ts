/** A node of a plan as `explain (format json)` has it; what ran is there with `analyze` alone. */
export interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Plan Rows': number;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly Plan[];
}

/** Indexes that are read, and tables that are read whole (those of a few rows apart). */
export function* accesses(plan: Plan): Generator<string> {
  const rows = (plan['Actual Rows'] ?? plan['Plan Rows']) * (plan['Actual Loops'] ?? 1);
  if (plan['Index Name']) yield plan['Index Name'].replace(/^(\w+)_\d{6}_/, '$1_');
  else if (plan['Node Type'] === 'Seq Scan' && rows > 100) yield `SEQ SCAN ${plan['Relation Name']}`;
  for (const child of plan.Plans ?? []) yield* accesses(child);
}
