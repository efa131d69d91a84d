import { z } from 'zod';
import { FieldErrorList } from '../../../core/errors.ts';
import { isLonger, isStorable } from '../../../platform/text.ts';

/** A member of the tenant's staff, to whom contacts can be assigned. */
export interface StaffRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
}

export type NewStaff = Omit<StaffRow, 'id'>;

const EMAIL = z.email();

/** @throws VALIDATION_ERROR by field */
export function parseStaff({ name, email }: NewStaff): NewStaff {
  const staff = { name: name.trim(), email: email.trim() };
  const errors = new FieldErrorList();
  if (staff.name === '' || isLonger(staff.name, 255) || !isStorable(staff.name))
    errors.add('name', 'Must have 1 to 255 characters.');
  if (isLonger(staff.email, 191)) errors.add('email', 'May have at most 191 characters.');
  else if (!EMAIL.safeParse(staff.email).success) errors.add('email', 'Must be an e-mail address.');
  errors.throwIfAny();
  return staff;
}
