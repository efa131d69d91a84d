import { tenantOf } from '../../../core/principal.ts';
import type { Context } from '../../../schema/context.ts';
import { authorOf } from '../audit/author.ts';
import { once } from '../idempotency/once.ts';
import type { AccountRow } from './account.ts';
import { changeSettings } from './change-settings.ts';
import { readAccount } from './read.ts';
import type { SettingsInput } from './settings.ts';

/** Changes settings of the caller's account. They take effect in every process within a second. @throws VALIDATION_ERROR */
export async function updateAccount(
  context: Context,
  input: SettingsInput,
  key: string | null | undefined,
): Promise<AccountRow> {
  const tenantId = tenantOf(context);
  await once(
    context,
    { operation: 'updateAccount', key, input },
    {
      run: trx => changeSettings(trx, tenantId, input, authorOf(context)),
      store: () => ({}),
      rebuild: async () => undefined,
    },
  );
  // Processes keep settings with the tokens that they have verified.
  context.tokens.revoked(tenantId);
  return readAccount(context, context.db.write);
}
