import type { StaffRole } from '../documents.generated.ts';

/** From the widest to the narrowest. */
export const ROLES = ['ADMIN', 'AGENT', 'VIEWER'] as const satisfies readonly StaffRole[];
