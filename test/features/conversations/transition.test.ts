import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CONVERSATION_STATUSES } from '../../../src/features/conversations/conversation.ts';
import { afterInbound } from '../../../src/features/conversations/fold.ts';
import {
  afterBot,
  afterPatch,
  type ConversationPatch,
  patchFault,
  type TransitionState,
} from '../../../src/features/conversations/transition.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const LATER = '2026-11-23T12:00:00.000Z';
const status = fc.constantFrom(...CONVERSATION_STATUSES);
const staff = fc.constantFrom(null, 1, 2);
type Step =
  | { readonly kind: 'patch'; readonly patch: ConversationPatch }
  | { readonly kind: 'inbound'; readonly isReadByBot: boolean }
  | { readonly kind: 'bot'; readonly isAnswered: boolean }
  | { readonly kind: 'answer' };
const patch: fc.Arbitrary<ConversationPatch> = fc.record(
  { status, snoozedUntil: fc.constantFrom(null, LATER, '2026-11-21T12:00:00.000Z'), assigneeId: staff },
  { requiredKeys: [] },
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    patch.map((of): Step => ({ kind: 'patch', patch: of })),
    fc.boolean().map((isReadByBot): Step => ({ kind: 'inbound', isReadByBot })),
    fc.boolean().map((isAnswered): Step => ({ kind: 'bot', isAnswered })),
    fc.constant<Step>({ kind: 'answer' }),
  ),
  { maxLength: 30 },
);
const NEW: TransitionState = {
  status: 'open',
  snoozed_until: null,
  assignee_id: null,
  waiting_since: null,
  unread_count: 0,
};

describe('the state of a conversation, after any steps', () => {
  const walk = (
    list: readonly Step[],
    check: (state: TransitionState, before: TransitionState, step: Step) => void,
  ): void => {
    let state = NEW;
    for (const step of list) {
      const before = state;
      if (step.kind === 'inbound') {
        const next = afterInbound(state.status, step.isReadByBot);
        state = {
          ...state,
          status: next,
          snoozed_until: next === state.status ? state.snoozed_until : null,
          waiting_since: state.waiting_since ?? '2026-11-22T12:00:00.000Z',
          unread_count: state.unread_count + 1,
        };
      } else if (step.kind === 'bot') state = { ...state, status: afterBot(state, step.isAnswered) };
      else if (step.kind === 'answer') state = { ...state, waiting_since: null };
      else if (!patchFault(step.patch, state, NOW)) state = afterPatch(state, step.patch);
      check(state, before, step);
    }
  };

  test('has a time only while it is snoozed', () => {
    fc.assert(
      fc.property(steps, list =>
        walk(list, state => expect(state.snoozed_until !== null && state.status !== 'snoozed').toBe(false)),
      ),
    );
  });

  test('is never snoozed or closed by an inbound message', () => {
    fc.assert(
      fc.property(steps, list =>
        walk(list, (state, _before, step) => {
          if (step.kind === 'inbound') expect(['open', 'pending']).toContain(state.status);
        }),
      ),
    );
  });

  test('is given to a bot only while nobody has it', () => {
    fc.assert(
      fc.property(steps, list =>
        walk(list, (state, before, step) => {
          if (step.kind === 'bot' && state.status === 'pending' && before.status !== 'pending')
            expect(before).toMatchObject({ status: 'open', assignee_id: null });
        }),
      ),
    );
  });

  test('waits for no answer once it is closed by people', () => {
    fc.assert(
      fc.property(steps, list =>
        walk(list, (state, _before, step) => {
          if (step.kind === 'patch' && step.patch.status === 'closed' && state.status === 'closed')
            expect(state.waiting_since).toBeNull();
        }),
      ),
    );
  });

  test('is what the patch says, and unchanged by a patch that says nothing', () => {
    fc.assert(
      fc.property(steps, list =>
        walk(list, (state, before, step) => {
          if (step.kind !== 'patch') return;
          if (patchFault(step.patch, before, NOW)) {
            expect(state).toEqual(before);
            return;
          }
          if (step.patch.status !== undefined) expect(state.status).toBe(step.patch.status);
          if (step.patch.assigneeId !== undefined) expect(state.assignee_id).toBe(step.patch.assigneeId);
          if (Object.keys(step.patch).length === 0) expect(state).toEqual(before);
        }),
      ),
    );
  });
});

test('a time in the past, and a time of what is not snoozed, are refused', () => {
  expect(patchFault({ status: 'snoozed', snoozedUntil: '2026-11-21T12:00:00Z' }, undefined, NOW)).toBeDefined();
  expect(patchFault({ snoozedUntil: LATER }, { status: 'open' }, NOW)).toBeDefined();
  expect(patchFault({ snoozedUntil: LATER }, { status: 'snoozed' }, NOW)).toBeUndefined();
  expect(patchFault({ status: 'snoozed' }, { status: 'open' }, NOW)).toBeUndefined();
});
