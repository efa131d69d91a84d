import type { ListArgs } from '../../core/list-args.ts';
import { tenantOf } from '../../core/principal.ts';
import { type ListDefinition, listColumns, type Page, readPage } from '../../database/list.ts';
import type { Context } from '../../schema/context.ts';
import { findByUuid } from '../../schema/nodes.ts';
import { OTP_COLUMNS, type PublicOtp } from './otp.ts';
import { getSentOtps } from './store.ts';

const column = listColumns('otps', 'o');
const id = column('id', 'uuid');

const OTPS: ListDefinition = {
  from: 'otps o',
  tenantColumn: 'o.tenant_id',
  where: "o.state <> 'sending'",
  filters: {
    id: { ...id, node: 'Otp' },
    phone: column('phone', 'text'),
    purpose: column('purpose', 'text'),
    status: column('state', 'text'),
    createdAt: column('created_at', 'timestamptz'),
    expiresAt: column('expires_at', 'timestamptz'),
    verifiedAt: column('verified_at', 'timestamptz'),
  },
  sorts: { id },
  id,
  defaultOrder: [{ column: id, descending: true }],
};

/** One page of one-time passwords that were sent, by default the latest first. */
export const otpPage = (context: Context, args: ListArgs): Promise<Page<PublicOtp>> =>
  readPage(
    context.db.read,
    OTPS,
    tenantOf(context),
    args,
    OTP_COLUMNS.map(name => `o.${name}` as const),
  );

/** @param text a global id or databaseId */
export const otpById = (context: Context, text: string): Promise<PublicOtp | null> =>
  findByUuid(context, 'Otp', text, getSentOtps);
