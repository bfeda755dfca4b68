/** Faults of a value that was written: read in the wrong locale, in the wrong unit, or not read anywhere. */
import { ask, fail, insist, type Scenario } from '../world.ts';
import { day, hex, office, person, told } from './office.ts';

export const values: readonly Scenario[] = [
  {
    // Shown by: the invoice says `1.234,50` and the draft holds a figure a thousand times smaller.
    cause: 'wrong locale',
    name: 'the decimal comma of a German invoice',
    tell(w) {
      const o = office(w);
      const [thousands, rest, part] = [w.int(1, 9), w.int(100, 999), w.int(10, 99)];
      const amount = Number(`${thousands}${rest}.${part}`);
      const [bill, draft, who] = [`RE-2026-${w.int(1000, 9999)}`, `draft_${hex(w)}`, person(w)];
      return told(
        `Enter and post the supplier invoice ${bill}.`,
        o,
        {
          get_attachment_text: {
            run: () =>
              `Rechnung ${bill}\n${who.firm}\nLeistungszeitraum: Juli\nGesamtbetrag: ${thousands}.${rest},${part} EUR\nZahlbar sofort.`,
          },
          create_bill_draft: { run: (input) => ({ draft, state: 'draft', amount: input.amount }) },
          post_bill: {
            run: () =>
              w.broken
                ? fail(`${draft} cannot be posted: amount differs from purchase order`, 'InvalidParams')
                : { state: 'posted' },
          },
        },
        function* () {
          yield* ask('get_attachment_text', { filename: `${bill}.pdf` });
          const wrong = Number(`${thousands}.${rest}`);
          yield* ask(
            'create_bill_draft',
            { supplier: who.firm, reference: bill, amount: w.broken ? wrong : amount, currency: 'EUR' },
            w.broken ? 'call' : undefined,
          );
          yield* o.other();
          yield* insist('post_bill', { draft });
          return 'Posted.';
        },
      );
    },
  },
  {
    // Shown by: the itinerary of a UK agency says day/month/year, and the hotel is held for month/day.
    cause: 'wrong locale',
    name: 'day and month of a British itinerary are exchanged',
    tell(w) {
      const o = office(w);
      const [d, m] = [w.int(1, 6), w.int(7, 12)].map((n) => String(n).padStart(2, '0')) as [string, string];
      const [trip, hold, who] = [`TR${w.int(10_000, 99_999)}`, `hold_${hex(w)}`, person(w)];
      return told(
        `Find a hotel for ${who.name}, trip ${trip}, and confirm the trip.`,
        o,
        {
          get_itinerary: {
            run: () => ({
              trip,
              agency: 'Albion Travel, London',
              locale: 'en-GB',
              traveller: who.name,
              arrival: `${d}/${m}/2026 18:40`,
              city: 'Leeds',
            }),
          },
          hold_hotel: { run: ({ check_in }) => ({ hold, hotel: 'Quay House', check_in, nights: 2 }) },
          confirm_trip: {
            run: () =>
              w.broken
                ? fail(`Trip ${trip}: hotel ${hold} is not on the day of arrival`, 'InvalidParams')
                : { state: 'confirmed' },
          },
        },
        function* () {
          yield* ask('get_itinerary', { trip });
          const check_in = w.broken ? `2026-${d}-${m}` : `2026-${m}-${d}`;
          yield* ask('hold_hotel', { city: 'Leeds', check_in, nights: 2 }, w.broken ? 'call' : undefined);
          yield* o.other();
          yield* insist('confirm_trip', { trip, hold });
          return 'Confirmed.';
        },
      );
    },
  },
  {
    // Shown by: the charge is in minor units (`amount: 42550`, `amount_decimal_places: 2`) and the same figure is sent as euros.
    cause: 'wrong unit',
    name: 'cents of the payment service are taken for euros',
    tell(w) {
      const o = office(w);
      const [minor, charge, credit] = [w.int(4000, 90_000), `ch_${hex(w, 14)}`, `CN-${w.int(100, 999)}`];
      return told(
        `Write a credit note for charge ${charge} and issue it.`,
        o,
        {
          retrieve_charge: {
            run: () => ({
              id: charge,
              object: 'charge',
              amount: minor,
              amount_decimal_places: 2,
              currency: 'eur',
              status: 'succeeded',
            }),
          },
          create_credit_note: {
            description: 'Drafts a credit note. amount_eur: euros with two decimals.',
            run: ({ amount_eur }) => ({ credit_note: credit, amount_eur, state: 'draft' }),
          },
          issue_credit_note: {
            run: () =>
              w.broken
                ? fail(`Credit note ${credit} exceeds the amount that was charged`, 'InvalidParams')
                : { state: 'issued' },
          },
        },
        function* () {
          const { amount } = yield* ask('retrieve_charge', { id: charge });
          yield* ask(
            'create_credit_note',
            { charge, amount_eur: w.broken ? amount : amount / 100, reason: 'returned goods' },
            w.broken ? 'call' : undefined,
          );
          yield* o.other();
          yield* insist('issue_credit_note', { credit_note: credit });
          return 'Issued.';
        },
      );
    },
  },
  {
    // Shown by: the catalogue gives the weight in pounds, and the parcel is declared with the same figure in kilograms.
    cause: 'wrong unit',
    name: 'pounds of the catalogue are declared as kilograms',
    tell(w) {
      const o = office(w);
      const [pounds, sku, order] = [w.int(11, 60), `KX-${w.int(100, 999)}`, `#${w.int(10_000, 99_999)}`];
      const parcel = `prc_${hex(w)}`;
      return told(
        `Buy the shipping label for order ${order} (one ${sku}).`,
        o,
        {
          get_product: { run: () => ({ sku, title: 'Bench vise', weight: { value: pounds, unit: 'lb' } }) },
          create_parcel: { run: (input) => ({ parcel, ...input }) },
          buy_label: {
            run: () =>
              w.broken
                ? fail(`Carrier rejected ${parcel}: declared weight does not match scale`, 'InvalidParams')
                : { tracking: `1Z${hex(w, 10)}` },
          },
        },
        function* () {
          const { weight } = yield* ask('get_product', { sku });
          const kilograms = Math.round(weight.value * 45.36) / 100;
          yield* ask(
            'create_parcel',
            { order, weight_kg: w.broken ? weight.value : kilograms, packaging: 'box' },
            w.broken ? 'call' : undefined,
          );
          yield* o.other();
          yield* insist('buy_label', { parcel });
          return 'The label is bought.';
        },
      );
    },
  },
  {
    // Shown by: the tax number of the vendor stands in no message before the call; the signature of the mail has none.
    cause: 'fabricated value',
    name: 'a tax number that nobody gave',
    tell(w) {
      const o = office(w);
      const [who, vendor] = [person(w), `V${w.int(10_000, 99_999)}`];
      const [real, made] = [`DE${w.int(100_000_000, 499_999_999)}`, `DE${w.int(500_000_000, 999_999_999)}`];
      return told(
        `Register ${who.firm} as a vendor and activate it.`,
        o,
        {
          get_message: {
            run: () => ({
              id: hex(w, 16),
              from: `${who.name} <${who.email}>`,
              subject: 'Vendor onboarding',
              body: `Hello,\nour details for the form${w.broken ? '' : `: VAT ID ${real}`}.\nKind regards\n${who.name}\n${who.firm}`,
            }),
          },
          create_vendor: { run: ({ name }) => ({ vendor, name, state: 'pending' }) },
          activate_vendor: {
            run: () =>
              w.broken
                ? fail(`Vendor ${vendor}: tax_id was not found in VIES`, 'InvalidParams')
                : { state: 'active' },
          },
        },
        function* () {
          yield* ask('get_message', { query: `from:${who.email} vendor` });
          yield* ask(
            'create_vendor',
            { name: who.firm, contact: who.email, tax_id: w.broken ? made : real },
            w.broken ? 'call' : undefined,
          );
          yield* o.other();
          yield* insist('activate_vendor', { vendor });
          return 'Activated.';
        },
      );
    },
  },
  {
    // Shown by: the DOI of the reference is in no result; the paper that was found has no DOI at all (`externalIds: {}`).
    cause: 'fabricated value',
    name: 'a reference with an invented DOI',
    tell(w) {
      const o = office(w);
      const [title, who] = [`Effects of ${w.word()} intake on ${w.word()} recovery`, person(w)];
      const [real, made] = [
        `10.1016/j.${hex(w, 5)}.2024.${w.int(1000, 9999)}`,
        `10.1038/s41586-0${w.int(10, 24)}-0${w.int(1000, 9999)}`,
      ];
      const library = `lib_${hex(w, 6)}`;
      return told(
        `Collect the sources for the review and export the bibliography of ${library}.`,
        o,
        {
          search_papers: {
            run: () => ({
              total: 1,
              data: [
                {
                  paperId: hex(w, 20),
                  title,
                  year: 2024,
                  authors: [{ name: who.name }],
                  externalIds: w.broken ? {} : { DOI: real },
                },
              ],
            }),
          },
          add_reference: { run: (input) => ({ key: `ref_${hex(w, 5)}`, title: input.title, added: true }) },
          export_bibliography: {
            run: () =>
              w.broken
                ? fail(`Export of ${library} failed: 1 DOI could not be resolved (404)`, 'InvalidParams')
                : { format: 'bibtex', entries: 1, date: day(w) },
          },
        },
        function* () {
          yield* ask('search_papers', { query: title.toLowerCase(), limit: 5 });
          yield* ask(
            'add_reference',
            { library, title, author: who.name, year: 2024, doi: w.broken ? made : real },
            w.broken ? 'call' : undefined,
          );
          yield* o.other();
          yield* insist('export_bibliography', { library, format: 'bibtex' });
          return 'Exported.';
        },
      );
    },
  },
];
