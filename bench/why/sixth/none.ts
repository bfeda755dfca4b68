/** Runs that fail without any cause on record: a service that is down, a refusal for reasons of its own. */
import type { JsonObject } from '../../../packages/types/src/index.ts';
import { ask, fail, isError, type Scenario, type Talk } from '../world.ts';
import { hex, office, person, told } from './office.ts';

interface Ending {
  readonly name: string;
  readonly task: string;
  readonly read: string;
  readonly act: string;
  readonly error: string;
  readonly code: 'Unavailable' | 'InternalError' | 'Conflict';
}

const endings: readonly Ending[] = [
  {
    name: 'the mail server is down',
    task: 'Answer the newest request of the customer.',
    read: 'get_thread',
    act: 'send_mail',
    error: '421 4.3.2 Service not available, closing transmission channel',
    code: 'Unavailable',
  },
  {
    name: 'the bank declines the payment',
    task: 'Pay the open invoice.',
    read: 'get_invoice',
    act: 'create_payment',
    error: 'Your card was declined. (decline_code: do_not_honor)',
    code: 'Conflict',
  },
  {
    name: 'the booking site is under maintenance',
    task: 'Book the room for the offsite.',
    read: 'get_offer',
    act: 'book_room',
    error: 'HTTP 502 Bad Gateway: scheduled maintenance',
    code: 'Unavailable',
  },
  {
    name: 'the clinic takes no more patients',
    task: 'Refer the patient to cardiology.',
    read: 'get_referral',
    act: 'submit_referral',
    error: 'Referral rejected by the receiving clinic: no capacity',
    code: 'Conflict',
  },
  {
    name: 'the website asks for a captcha',
    task: 'Download the price list from the supplier portal.',
    read: 'browser_snapshot',
    act: 'browser_click',
    error: 'Navigation blocked: "Verify you are human" challenge',
    code: 'InternalError',
  },
  {
    name: 'the signing service breaks down inside',
    task: 'Send the contract for signature.',
    read: 'get_envelope',
    act: 'send_envelope',
    error: 'HTTP 500 {"errorCode":"UNSPECIFIED_ERROR","message":"Internal server error"}',
    code: 'InternalError',
  },
];

export const none: readonly Scenario[] = endings.map(({ name, task, read, act, error, code }) => ({
  // A run without a cause belongs to no cause: this one is only a name that the type asks for.
  cause: 'wrong tool result',
  name,
  tell(w) {
    const o = office(w);
    const [who, id] = [person(w), `${w.word()}-${hex(w, 6)}`];
    return told(
      `${task} Reference: ${id}.`,
      o,
      {
        [read]: { run: () => ({ id, name: who.name, email: who.email, status: 'open' }) },
        [act]: { run: () => (w.broken ? fail(error, code) : { id, status: 'accepted' }) },
      },
      function* (): Talk {
        const record = yield* ask(read, { id });
        yield* o.other();
        const input: JsonObject = { id: record.id, to: record.email };
        while (isError(yield* ask(act, input, w.broken ? 'call' : undefined)));
        return 'Done.';
      },
    );
  },
}));
