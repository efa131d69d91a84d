import { z } from 'zod';
import { FieldErrorList } from '../../../core/errors.ts';
import type { StaffRole } from '../../../core/staff-roles.ts';
import { isLonger, isStorable } from '../../../platform/text.ts';

/** A member of the tenant's staff, to whom contacts can be assigned. */
export interface StaffRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: StaffRole;
  readonly created_at: string;
}

export interface NewStaff {
  readonly name: string;
  readonly email: string;
  readonly role?: StaffRole | undefined;
}

/** Undefined: unchanged. */
export interface StaffChange {
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly role?: StaffRole | null | undefined;
}

const EMAIL = z.email();
const MAX_NAME = 255;
const MAX_EMAIL = 191;

/** @throws VALIDATION_ERROR by field */
export function parseStaff({ name, email, role }: NewStaff): NewStaff {
  const errors = new FieldErrorList();
  const staff = { name: parseName(name, errors), email: parseEmail(email, errors), role };
  errors.throwIfAny();
  return staff;
}

/** Parses a change of a staff member. @throws VALIDATION_ERROR by field */
export function parseStaffChange({ name, email, role }: StaffChange): Partial<Omit<StaffRow, 'id' | 'created_at'>> {
  const errors = new FieldErrorList();
  for (const [field, value] of Object.entries({ name, email, role }))
    if (value === null) errors.add(field, 'Is required.', 'REQUIRED');
  const change = {
    ...(name != null && { name: parseName(name, errors) }),
    ...(email != null && { email: parseEmail(email, errors) }),
    ...(role != null && { role }),
  };
  errors.throwIfAny();
  return change;
}

function parseName(given: string, errors: FieldErrorList): string {
  const name = given.trim();
  if (name === '') errors.add('name', 'Must have 1 to 255 characters.', 'REQUIRED');
  else if (isLonger(name, MAX_NAME)) errors.add('name', 'Must have 1 to 255 characters.', 'TOO_LONG');
  else if (!isStorable(name)) errors.add('name', 'Must not contain the character U+0000 or half of a surrogate pair.');
  return name;
}

function parseEmail(given: string, errors: FieldErrorList): string {
  const email = given.trim();
  if (isLonger(email, MAX_EMAIL)) errors.add('email', `May have at most ${MAX_EMAIL} characters.`, 'TOO_LONG');
  else if (!EMAIL.safeParse(email).success) errors.add('email', 'Must be an e-mail address.');
  return email;
}
