import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import type { TestDatabase } from './database.ts';

/** A place that contains data of a person. */
export interface Finding {
  readonly table: string;
  readonly column: string;
  readonly marker: string;
  /** The first such value, as it was read. */
  readonly value: string;
  readonly rows: number;
}

/** Types of columns that hold no text. */
const WITHOUT_TEXT =
  "'{bool,int2,int4,int8,float4,float8,numeric,uuid,date,time,timetz,timestamp,timestamptz,interval,xid,xid8,oid,_bool,_int2,_int4,_int8,_uuid,_date,_timestamp,_timestamptz,tsvector}'";

/**
 * Finds data of people in every column of every table. The columns come from the system catalog, so that tables of later migrations are
 * read too; tables without pages have no rows. Values are compared ignoring case: as they are, decompressed, and decoded from base64
 * (message ids of the network contain the number that way) and hex. Digits are also found within numbers.
 *
 * @param markers by name: phone numbers as digits, names, e-mail addresses, ids, texts
 */
export async function findPersonalData(
  database: Pick<TestDatabase, 'query'>,
  markers: Readonly<Record<string, string>>,
): Promise<Finding[]> {
  const needles = Object.entries(markers).map(([name, text]) => ({ name, text: text.toLowerCase() }));
  const columns = await database.query<{ table: string; column: string; type: string }>(`
    select c.oid::regclass::text as table, a.attname as column, t.typname as type
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace and n.nspname not in ('pg_catalog', 'information_schema') and n.nspname !~ '^pg_'
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    join pg_type t on t.oid = a.atttypid
    where c.relkind in ('r', 'm') and pg_relation_size(c.oid) > 0 and t.typname <> all(${WITHOUT_TEXT}::text[])
    order by 1, 2`);
  const findings: Finding[] = [];
  for (const { table, column, type } of columns) {
    const value = type === 'bytea' ? `"${column}"` : `"${column}"::text`;
    const rows = await database.query<{ value: string | Buffer }>(
      `select ${value} as value from ${table} where "${column}" is not null`,
    );
    const found = new Map<string, { value: string; rows: number }>();
    for (const row of rows) {
      const texts = textsIn(row.value);
      for (const { name, text } of needles) {
        const hit = texts.find(candidate => candidate.toLowerCase().includes(text));
        if (hit === undefined) continue;
        const before = found.get(name);
        found.set(name, { value: before?.value ?? hit.slice(0, 400), rows: (before?.rows ?? 0) + 1 });
      }
    }
    for (const [marker, { value: first, rows: count }] of found)
      findings.push({ table, column, marker, value: first, rows: count });
  }
  return findings;
}

/** Every interpretation of a value: unchanged, decompressed, and decoded. */
function textsIn(value: string | Buffer): string[] {
  const plain = typeof value === 'string' ? [value] : bytesIn(value).map(bytes => bytes.toString('utf8'));
  return plain.flatMap(text => [text, unescaped(text), ...decoded(text)]);
}

/** JSON escapes: `\u00fc`. */
const unescaped = (text: string): string =>
  text.replace(/\\u([0-9a-f]{4})/gi, (_match, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** Runs that may be base64 (also of URLs) or hex, decoded; base64 from each place at which it may begin in its run. */
function decoded(text: string): string[] {
  const base64 = [...text.matchAll(/[A-Za-z0-9+/_-]{12,}={0,2}/g)].flatMap(([run]) => {
    return [0, 1, 2, 3].flatMap(begin => {
      const bytes = Buffer.from(run.slice(begin).replaceAll('-', '+').replaceAll('_', '/'), 'base64');
      return [bytes.toString('latin1'), bytes.toString('utf8')];
    });
  });
  const hex = [...text.matchAll(/(?:[0-9a-f]{2}){6,}/gi)].map(([run]) => Buffer.from(run, 'hex').toString('latin1'));
  return [...base64, ...hex];
}

const READERS = [gunzipSync, inflateSync, inflateRawSync, brotliDecompressSync, zstdDecompressSync] as const;

/** The bytes, and their decompressed form if they are compressed. */
function bytesIn(bytes: Buffer): Buffer[] {
  const all = [bytes];
  for (const read of READERS) {
    try {
      all.push(read(bytes));
    } catch {
      // Not compressed in this format.
    }
  }
  return all;
}
