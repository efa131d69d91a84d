import type { Context } from '../../context.ts';
import { CodedError, FieldErrorList, invalid } from '../../errors.ts';
import { isLonger, isStorable } from '../../platform/text.ts';
import { callerOf, tenantOf } from '../caller.ts';
import { once } from '../idempotency/once.ts';
import { requireFeature } from '../tenants/feature.ts';
import { addMapping, type CheckedMapping, checkMapping } from './check-mapping.ts';
import { integrationOf } from './find.ts';
import {
  DEFAULT_TOPIC_PATH,
  type IntegrationRow,
  type Kind,
  MAX_INTEGRATIONS,
  newKey,
  newSecret,
} from './integration.ts';
import { MAX_MAPPINGS, type MappingInput } from './mapping-input.ts';
import { countryNamed } from './order.ts';
import { parsePath } from './path.ts';
import { standardWebhook } from './signature.ts';
import { countIntegrations, type IntegrationFields, insertIntegration } from './store.ts';

export interface IntegrationInput {
  readonly name?: string | null | undefined;
  readonly isEnabled?: boolean | null | undefined;
  readonly defaultCountry?: string | null | undefined;
  readonly topicPath?: string | null | undefined;
}

export interface CreateIntegrationInput extends IntegrationInput {
  readonly kind: Kind;
  readonly secret?: string | null | undefined;
  readonly mappings?: readonly MappingInput[] | null | undefined;
  readonly idempotencyKey?: string | null | undefined;
}

export interface CreatedIntegration {
  readonly integration: IntegrationRow;
  /** One that was made here, shown this once: what is kept is sealed. */
  readonly secret: string | null;
}

export const MAX_NAME = 100;
export const NAME_TAKEN = 'Is already taken.';

/**
 * Makes an integration. A secret is made where none is given, but for Shopify, which makes its own: without it nothing is
 * let in until it is given.
 * @throws VALIDATION_ERROR by field, FEATURE_NOT_AVAILABLE, FEATURE_LIMIT_EXCEEDED beyond 50
 */
export async function createIntegration(context: Context, input: CreateIntegrationInput): Promise<CreatedIntegration> {
  requireFeature(callerOf(context).tenant, 'integrations');
  const tenantId = tenantOf(context);
  const errors = new FieldErrorList();
  const fields = parseIntegration(input, errors);
  if (input.name == null) errors.add('name', 'Is required.');
  checkSecret(input.secret, errors);
  if ((input.mappings?.length ?? 0) > MAX_MAPPINGS) errors.add('mappings', `Takes at most ${MAX_MAPPINGS}.`);
  const made = input.secret == null && input.kind !== 'shopify' ? newSecret() : null;
  const secret = input.secret ?? made;
  return once<CreatedIntegration>(
    context,
    { operation: 'createIntegration', key: input.idempotencyKey, input },
    {
      async run(trx) {
        const mappings: CheckedMapping[] = [];
        for (const [index, mapping] of (input.mappings ?? []).slice(0, MAX_MAPPINGS).entries())
          mappings.push(await checkMapping(trx, tenantId, mapping, errors, `mappings.${index}.`));
        errors.throwIfAny();
        const current = await countIntegrations(trx, tenantId);
        if (current >= MAX_INTEGRATIONS)
          throw new CodedError('FEATURE_LIMIT_EXCEEDED', `There may be at most ${MAX_INTEGRATIONS} integrations.`, {
            feature: 'integrations',
            current,
            maximum: MAX_INTEGRATIONS,
          });
        const id = await insertIntegration(trx, tenantId, {
          name: '',
          isEnabled: true,
          defaultCountry: null,
          topicPath: DEFAULT_TOPIC_PATH,
          ...fields,
          kind: input.kind,
          key: newKey(),
          secretSealed: secret === null ? null : context.secrets.seal(secret),
        });
        if (id === undefined) throw invalid({ name: [NAME_TAKEN] });
        for (const mapping of mappings) await addMapping(trx, tenantId, { id, kind: input.kind }, mapping);
        return { integration: await integrationOf(trx, tenantId, id), secret: made };
      },
      store: ({ integration }) => ({ id: integration.id }),
      again: async stored => ({
        integration: await integrationOf(context.db.write, tenantId, (stored as { id: number }).id),
        secret: null,
      }),
    },
  );
}

/** Checks and normalises what a caller says of an integration; faults go to `errors`. */
export function parseIntegration(input: IntegrationInput, errors: FieldErrorList): Partial<IntegrationFields> {
  const name = input.name?.trim();
  if (name !== undefined && (name === '' || isLonger(name, MAX_NAME) || !isStorable(name)))
    errors.add('name', `Must have 1 to ${MAX_NAME} characters.`);
  const country = input.defaultCountry == null ? null : countryNamed(input.defaultCountry);
  if (country === undefined)
    errors.add('defaultCountry', 'Must be a country by ISO 3166-1 alpha-2 code, for example DE.');
  const topicPath = input.topicPath?.trim();
  if (topicPath !== undefined && !parsePath(topicPath))
    errors.add('topicPath', 'Must be a path, for example event or meta.type.');
  return {
    ...(name !== undefined && { name }),
    ...(input.isEnabled != null && { isEnabled: input.isEnabled }),
    ...(input.defaultCountry !== undefined && { defaultCountry: country ?? null }),
    ...(topicPath !== undefined && { topicPath }),
  };
}

/** A secret as a shop may have it: printable, long enough not to be guessed. */
export function checkSecret(secret: string | null | undefined, errors: FieldErrorList): void {
  if (secret == null) return;
  if (!/^[\x21-\x7e]{8,255}$/.test(secret)) {
    errors.add('secret', 'Must have 8 to 255 characters: letters, digits and signs of ASCII, no blanks.');
    return;
  }
  try {
    standardWebhook(secret);
  } catch {
    errors.add('secret', 'What begins with whsec_ must go on in base64.');
  }
}
