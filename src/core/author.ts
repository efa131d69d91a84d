export type AuthorKind = 'token' | 'staff' | 'bot' | 'campaign' | 'integration' | 'otp' | 'phone_app' | 'system';

/** Author of a change, with the name at that time. */
export interface Author {
  readonly kind: AuthorKind;
  /** Id of the token, staff member, …; null if it has no row. */
  readonly id: number | null;
  readonly name: string;
}
