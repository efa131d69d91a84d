import { expect, test } from 'vitest';
import {
  type CampaignAction,
  type CampaignStatus,
  refusalOf,
  STATUSES,
  statusAfter,
  TRANSITIONS,
} from '../../../src/features/campaigns/state.ts';

const ACTIONS = Object.keys(TRANSITIONS) as CampaignAction[];
const FINAL: ReadonlySet<CampaignStatus> = new Set(['completed', 'cancelled', 'failed']);

/** Numbers that look random and are the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state / 2 ** 31;
  }
}

test('after any sequence of actions, a final status stays and nothing is sent before a start', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const random = numbers(seed);
    let status: CampaignStatus = 'draft';
    const seen: CampaignStatus[] = [status];
    for (let step = 0; step < 30; step += 1) {
      const action = ACTIONS[Math.floor((random.next().value as number) * ACTIONS.length)] as CampaignAction;
      const next = statusAfter(status, action);
      if (FINAL.has(status)) expect(next === undefined || next === status).toBe(true);
      if (next === undefined) continue;
      // Only a start or a resumption begins to send, and only a running campaign is paused or completed.
      if (next === 'running' && status !== 'running') expect(['start', 'resume']).toContain(action);
      if ((next === 'paused' && status !== 'paused') || next === 'completed')
        expect(['running', next]).toContain(status);
      if (next === 'draft') expect(status).toBe('draft');
      if (action === 'change') expect(seen).not.toContain('running');
      status = next;
      seen.push(status);
    }
  }
});

test('each status but draft is reached, and each that is not final can be left', () => {
  const reached = new Set(ACTIONS.map(action => TRANSITIONS[action].to).filter(status => status !== undefined));
  expect([...reached].sort()).toEqual(STATUSES.filter(status => status !== 'draft').sort());
  for (const status of STATUSES) {
    const next = ACTIONS.map(action => statusAfter(status, action)).filter(to => to !== undefined && to !== status);
    expect(next.length > 0).toBe(!FINAL.has(status));
  }
});

test('a refusal names the action, the status and those in which the action is possible', () => {
  expect(refusalOf('draft', 'cancel')).toBe(
    'Cannot cancel a campaign that is draft. It must be scheduled, running, or paused.',
  );
  expect(refusalOf('completed', 'start')).toBe(
    'Cannot start a campaign that is completed. It must be draft or scheduled.',
  );
});
