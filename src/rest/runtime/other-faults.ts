import { CodedError, fieldsOverlap, STAND_IN } from '../../core/errors.ts';
import type { Caller } from '../../graphql/execution/kernel.ts';
import { Call, type RestRequest } from './call.ts';
import { type Executable, operationOfPlan } from './executable.ts';
import type { RestHost } from './host.ts';
import { faultsOfKinds, isOfUnknownKind, isSent, repairedBodies, valueAt } from './repair.ts';
import { restErrorOf, restErrorOfUserErrors, userErrorsOf } from './rest-error.ts';
import type { RowStyle } from './route.ts';

/**
 * Adds to the error of a faulty request the faults that only the operation finds in the other fields of its body, so that all are
 * reported at once. The operation runs with the faulty fields replaced (`repairedBodies`), in a context that cannot write, send or call
 * anything. A fault that it finds with every replacement is a fault of the request.
 */
export async function withOtherFaults(
  host: RestHost,
  executable: Executable,
  call: Call,
  caller: Caller,
  rows: RowStyle,
  error: unknown,
): Promise<unknown> {
  const { route } = executable;
  if (!route.body || call.errors.isEmpty || !(error instanceof CodedError)) return error;
  const { body: sent } = call.request;
  if (sent === null) return error;
  const isAnyKind = isOfUnknownKind(route.body, sent);
  for (const { path, message } of faultsOfKinds(route.body, sent)) call.errors.add(path.join('.'), message);
  const known = Object.keys(call.errors.fields);
  const found: Map<string, readonly string[]>[] = [];
  const isReadable = route.body.safeParse(sent ?? {}).success;
  for (const body of isReadable ? [sent] : repairedBodies(route.body, sent)) {
    const faults = await rehearse(host, executable, requestWith(call.request, body), caller, rows);
    // A path that only a replacement has is not a path of the request.
    const isInserted = (field: string): boolean => {
      const path = field.split('.');
      return valueAt(sent, path) === undefined && valueAt(body, path) !== undefined;
    };
    found.push(
      new Map([...faults].filter(([field]) => !(isInserted(field) || known.some(name => fieldsOverlap(field, name))))),
    );
  }
  for (const faults of found)
    for (const [field, messages] of faults)
      for (const message of messages)
        if (
          !message.includes(STAND_IN) &&
          !call.errors.fields[field]?.includes(message) &&
          ((isAnyKind && isSent(sent, field)) || found.every(others => others.get(field)?.includes(message)))
        )
          call.errors.add(field, message);
  return call.errors.toError();
}

/**
 * Returns the request with another body. It has no query parameters, which only choose what is shown and may be faulty, and no
 * idempotency key, so that nothing is stored for the key.
 */
function requestWith(request: RestRequest, body: unknown): RestRequest {
  const { 'idempotency-key': _key, ...headers } = request.headers;
  return Object.create(request, {
    body: { value: body },
    query: { value: {} },
    headers: { value: headers },
  }) as RestRequest;
}

async function rehearse(
  host: RestHost,
  executable: Executable,
  request: RestRequest,
  caller: Caller,
  rows: RowStyle,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const plan = executable.route.plan(new Call(request, caller), rows);
  const context = host.kernel.createContext({ ...caller, isRehearsal: true });
  const { data, errors } = await host.kernel.run(operationOfPlan(executable, plan), { ...plan.variables }, context);
  const [userError, ...userErrors] = userErrorsOf(data);
  if (errors === undefined && userError === undefined) return new Map();
  const { code, details = {} } = errors
    ? restErrorOf(errors, plan.names)
    : restErrorOfUserErrors([userError as NonNullable<typeof userError>, ...userErrors], plan.names);
  if (code !== 'VALIDATION_ERROR' || 'input' in details) return new Map();
  return new Map(Object.entries(details).map(([field, messages]) => [field, [messages].flat().map(String)]));
}
