import { createContext, use } from 'react';
import type { ParleyClient } from '../../client/client.ts';
import type { Scope, StaffMembersQuery, ViewerQuery } from '../documents.generated.ts';

export type StaffMember = NonNullable<StaffMembersQuery['staffMembers']>['nodes'][number];
type Viewer = NonNullable<ViewerQuery['viewer']>;

/** The signed-in account, for every page. */
export interface Account {
  readonly client: ParleyClient;
  /** The access token, for the emulated network. */
  readonly token: string;
  readonly viewer: Viewer;
  /** Empty if the session may not read it. */
  readonly accountName: string;
  /** The account's slug on the command line; `$TENANT` if the session may not read it. */
  readonly tenant: string;
  /** Staff to whom work can be assigned; empty if the session may not read them. */
  readonly staff: readonly StaffMember[];
  /** Whether the account has a number of the emulated network. */
  readonly hasEmulator: boolean;
  /** How often the session has lost scopes since it was opened: what was read before may not be shown after it. */
  readonly narrowings: number;
  /** Whether the session may do something: what it may not do is not offered. */
  can(...scopes: readonly Scope[]): boolean;
  /** Acts as a staff member, or as the token itself. */
  actAs(staffId: string | undefined): void;
  /** Reads the staff again: somebody may have come or gone since. */
  readStaff(): void;
  signOut(): void;
}

export const AccountContext = createContext<Account | undefined>(undefined);

export function useAccount(): Account {
  const account = use(AccountContext);
  if (!account) throw new Error('There is no signed-in account above this component.');
  return account;
}
