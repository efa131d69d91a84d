import { expect } from 'vitest';
import { dataOf } from '../../support/answers.ts';
import { eventually, type TestGateway, type TestTenant } from '../../support/gateway.ts';

/** Creates an integration of each tenant, and a delivery to that of the other. The ids are added by type. */
export async function insertIntegrations(
  gateway: TestGateway,
  other: TestTenant,
  theirs: Map<string, string>,
  ours: Map<string, string>,
): Promise<void> {
  const integrate = `mutation { createIntegration(input: { kind: GENERIC, name: "Shop", secret: "01234567", mappings: [{ name: "Orders" }] }) {
    integration { databaseId path mappings { databaseId } } } }`;
  for (const [rows, token] of [
    [theirs, other.token],
    [ours, gateway.tenant.token],
  ] as const) {
    const { integration } = dataOf(await gateway.graphql(integrate, {}, token)).createIntegration;
    rows.set('Integration', String(integration.databaseId));
    rows.set('IntegrationMapping', String(integration.mappings[0].databaseId));
    if (rows === theirs)
      await fetch(`${gateway.url}${integration.path}`, {
        method: 'POST',
        headers: { 'x-parley-secret': '01234567' },
        body: '{}',
      });
  }
  const received = await eventually(async () => {
    const [first] = dataOf(
      await gateway.graphql('{ integrationDeliveries { nodes { databaseId outcome } } }', {}, other.token),
    ).integrationDeliveries.nodes;
    expect(first.outcome).toBe('REFUSED');
    return first;
  });
  theirs.set('IntegrationDelivery', received.databaseId);
}
