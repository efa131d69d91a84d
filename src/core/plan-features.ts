import { CodedError } from './errors.ts';

/** Optional plan features. Contacts, labels and text messages belong to every plan. */
export const FEATURES = ['bots', 'integrations', 'interactive', 'media', 'otp', 'templates', 'webhooks'] as const;

export type Feature = (typeof FEATURES)[number];

/**
 * Requires a feature of the tenant's plan. Called before an operation reads or writes anything.
 * @throws FEATURE_NOT_AVAILABLE with `feature`
 */
export function requireFeature(
  tenant: { readonly features: ReadonlySet<string>; readonly planName: string },
  feature: Feature,
): void {
  if (tenant.features.has(feature)) return;
  throw new CodedError('FEATURE_NOT_AVAILABLE', `The plan ${tenant.planName} does not include ${feature}.`, {
    details: { feature },
  });
}
