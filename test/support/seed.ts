import { payloadOf } from './answers.ts';
import type { TestGateway, TestTenant } from './gateway.ts';

let phones = 0;

/** A phone number in E.164 that no other call of this process returns: a German mobile number. */
export function newPhone(): string {
  phones += 1;
  return `+49157${String(50_000_000 + phones)}`;
}

/** Fields of `CreateContactInput`. The phone number is a new one unless given. */
export interface ContactSeed {
  readonly phone?: string;
  readonly optedOut?: boolean;
  readonly [field: string]: unknown;
}

export interface SeededContact {
  /** The databaseId. */
  readonly id: number;
  readonly globalId: string;
  readonly phone: string;
}

export interface Seed {
  contact(fields?: ContactSeed): Promise<SeededContact>;
  /** @returns the databaseId */
  label(type: 'Group' | 'Source' | 'Status', name?: string): Promise<number>;
}

/** Creates objects through the API, as the tenant. Throws if the API refuses. */
export function seedOf(gateway: TestGateway, { token }: Pick<TestTenant, 'token'> = gateway.tenant): Seed {
  return {
    async contact({ optedOut, ...fields } = {}) {
      const input = { phone: newPhone(), ...fields, ...(optedOut !== undefined && { isOptedOut: optedOut }) };
      const answer = await gateway.mutate('createContact', input, 'contact { id databaseId phone }', token);
      const { id: globalId, databaseId, phone } = payloadOf(answer).contact;
      return { id: Number(databaseId), globalId, phone };
    },
    async label(type, name = `${type} ${newPhone()}`) {
      const answer = await gateway.mutate(
        `createContact${type}`,
        { name },
        `label: contact${type} { databaseId }`,
        token,
      );
      return Number(payloadOf(answer).label.databaseId);
    },
  };
}
