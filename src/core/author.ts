export type AuthorKind = 'token' | 'staff' | 'bot' | 'campaign' | 'integration' | 'otp' | 'phone_app' | 'system';

/** Who did something, with the name at that time. */
export interface Author {
  readonly kind: AuthorKind;
  /** Id of the token, staff member, …; null if it has no row. */
  readonly id: number | null;
  readonly name: string;
}
