import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { accountOf } from './statistics/fixture.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const LIST = `query ($filter: MessageFilter, $orderBy: [MessageOrder!], $after: String) {
  messages(first: 2, after: $after, filter: $filter, orderBy: $orderBy) {
    totalCount pageInfo { hasNextPage endCursor } nodes { databaseId status failedAt error { code } } } }`;

test('a list read through the index of failures has the messages that its whole filter matches', async () => {
  const account = await accountOf(gateway);
  const [early, late] = ['2026-11-02T10:15:00.000Z', '2026-11-03T10:15:00.000Z'];
  const ids = await account.add(Array.from({ length: 6 }, () => ({ at: early, phone: '+4915112345678' })));
  const [recipient = '', wait = '', second = '', read = '', sent = '', queued = ''] = ids;
  await account.apply([
    { id: recipient, status: 'failed', at: early, code: 131_026 },
    { id: wait, status: 'failed', at: late, code: 131_056 },
    { id: second, status: 'failed', at: late, code: 131_026 },
    { id: read, status: 'read', at: late },
    { id: sent, status: 'sent', at: late },
  ]);
  const found = async (filter: object, orderBy?: object[]): Promise<string[]> => {
    const shown: string[] = [];
    let after: string | undefined;
    for (;;) {
      const { messages } = dataOf(await gateway.graphql(LIST, { filter, orderBy, after }, account.token));
      for (const { databaseId, status, failedAt, error } of messages.nodes) {
        shown.push(databaseId);
        expect(failedAt !== null && error !== null).toBe(status === 'FAILED');
      }
      after = messages.pageInfo.endCursor;
      if (messages.pageInfo.hasNextPage) continue;
      expect(messages.totalCount).toBe(shown.length);
      return shown;
    }
  };
  const newest = (...some: string[]): string[] => some.sort().reverse();
  for (const [filter, expected] of [
    [{ failedAt: { gte: early } }, [recipient, wait, second]],
    [{ failedAt: { gt: early } }, [wait, second]],
    [{ failedAt: { gte: early }, status: { eq: 'FAILED' } }, [recipient, wait, second]],
    [{ failedAt: { gte: early }, status: { ne: 'FAILED' } }, []],
    [{ failedAt: { gte: early }, errorClass: { ne: 'RECIPIENT' } }, [wait]],
    [{ failedAt: { gte: early }, errorCode: { notIn: [131_056] } }, [recipient, second]],
    [{ failedAt: { between: [early, late] }, errorCode: { isNull: true } }, []],
    [{ errorCode: { in: [131_026] }, failedAt: { lte: early } }, [recipient]],
    [{ errorClass: { eq: 'RECIPIENT' }, direction: { eq: 'OUTBOUND' } }, [recipient, second]],
    [{ errorClass: { eq: 'RECIPIENT' }, direction: { eq: 'INBOUND' } }, []],
    // Conditions that also hold for messages that have not failed.
    [{ status: { eq: 'FAILED' } }, [recipient, wait, second]],
    [{ errorClass: { ne: 'RECIPIENT' } }, [wait, read, sent, queued]],
    [{ failedAt: { isNull: true } }, [read, sent, queued]],
    [{ failedAt: { ne: late } }, [recipient, read, sent, queued]],
    // The grammar that every list has.
    [{ or: [{ errorCode: { eq: 131_056 } }, { status: { eq: 'READ' } }] }, [wait, read]],
    [{ failedAt: { gte: early }, not: { errorCode: { eq: 131_026 } } }, [wait]],
    [{ failedAt: { gte: early }, and: [{ failedAt: { lt: late } }, { direction: { eq: 'OUTBOUND' } }] }, [recipient]],
  ] as const)
    expect([filter, await found(filter)]).toEqual([filter, newest(...expected)]);
  const byTime = [{ field: 'FAILED_AT', direction: 'ASC' }];
  expect(await found({ status: { eq: 'FAILED' } }, byTime)).toEqual([recipient, ...[wait, second].sort()]);
});
