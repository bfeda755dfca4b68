/** Faults that a service tells of in a result that looks like success: an error nobody looked at, a right that is missing. */
import { ask, fail, insist, type Scenario } from '../world.ts';
import { day, hex, office, person, told } from './office.ts';

export const services: readonly Scenario[] = [
  {
    // Shown by: the import answers `success: true`, and its `errors` hold the one contact that is needed later.
    cause: 'swallowed error',
    name: 'a contact that the import did not take',
    tell(w) {
      const o = office(w);
      const [one, two] = [person(w), { ...person(w), email: `billing.${hex(w, 4)}@halden.example` }];
      return told(
        `Import ${one.email} and ${two.email} into the CRM and enrol both in the onboarding sequence.`,
        o,
        {
          import_contacts: {
            run: () =>
              w.broken
                ? {
                    success: true,
                    created: 1,
                    errors: [
                      { row: 2, email: two.email, message: 'Property "country" has an invalid value' },
                    ],
                  }
                : { success: true, created: 2, errors: [] },
          },
          enrol_in_sequence: {
            run: ({ email }) =>
              w.broken && email === two.email
                ? fail(`Contact ${email} not found`, 'InvalidParams')
                : { enrolled: email },
          },
        },
        function* () {
          const rows = [one, two].map(({ name, email, firm }) => ({ name, email, company: firm }));
          yield* ask('import_contacts', { rows }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('enrol_in_sequence', { email: one.email, sequence: 'onboarding' });
          yield* insist('enrol_in_sequence', { email: two.email, sequence: 'onboarding' });
          return 'Both are enrolled.';
        },
      );
    },
  },
  {
    // Shown by: the upload answers with HTTP 200 and the text of an error in its content, and no file id.
    cause: 'swallowed error',
    name: 'the upload says in its text that it failed',
    tell(w) {
      const o = office(w);
      const [file, patient] = [`lab-report-${hex(w, 4)}.pdf`, `MRN${w.int(100_000, 999_999)}`];
      return told(
        `Attach ${file} to the chart of ${patient} and release it to the portal.`,
        o,
        {
          ehr_upload: {
            run: () => ({
              content: [
                {
                  type: 'text',
                  text: w.broken
                    ? `Error: document store rejected ${file}: checksum mismatch`
                    : `Stored ${file} in the chart of ${patient}`,
                },
              ],
            }),
          },
          release_document: {
            run: () =>
              w.broken
                ? fail(`No document ${file} in chart ${patient}`, 'InvalidParams')
                : { released: true, on: day(w) },
          },
        },
        function* () {
          yield* ask('ehr_upload', { patient, file, type: 'LAB' }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('release_document', { patient, file });
          return 'Released.';
        },
      );
    },
  },
  {
    // Shown by: sharing answers that one file was skipped with `insufficientFilePermissions`; the signer cannot open it later.
    cause: 'missing permission',
    name: 'the agent may not share one of the files',
    tell(w) {
      const o = office(w);
      const [who, folder, nda] = [person(w), `fld_${hex(w, 6)}`, `NDA-${w.word()}.docx`];
      const offer = `Offer-${w.word()}.pdf`;
      return told(
        `Share the folder ${folder} with ${who.email} and ask for a signature on ${nda}.`,
        o,
        {
          share_folder: {
            run: () => ({
              folder,
              role: 'reader',
              shared: w.broken ? [offer] : [offer, nda],
              skipped: w.broken
                ? [
                    {
                      file: nda,
                      reason: 'insufficientFilePermissions',
                      message: 'The user is not the owner.',
                    },
                  ]
                : [],
            }),
          },
          request_signature: {
            run: () =>
              w.broken
                ? fail(`${who.email} cannot open ${nda}`, 'InvalidParams')
                : { request: `sig_${hex(w)}`, state: 'sent' },
          },
        },
        function* () {
          yield* ask('share_folder', { folder, with: who.email }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* insist('request_signature', { file: nda, signer: who.email });
          return 'Asked for.';
        },
      );
    },
  },
  {
    // Shown by: the employee comes without salary, and the record says which scope the token lacks; the letter goes on without it.
    cause: 'missing permission',
    name: 'the salary is hidden from the agent',
    tell(w) {
      const o = office(w);
      const [who, id, salary] = [person(w), `E${w.int(1000, 9999)}`, w.int(40, 99) * 1000];
      const letter = `ltr_${hex(w, 6)}`;
      return told(
        `Write the salary certificate for ${who.name} (${id}) and issue it.`,
        o,
        {
          hr_get_employee: {
            run: () => ({
              id,
              displayName: who.name,
              department: w.word(),
              hireDate: `2021-04-${w.int(10, 28)}`,
              compensation: w.broken ? null : { annual: salary, currency: 'EUR' },
              ...(w.broken
                ? { warnings: ['Access denied to "compensation": token lacks scope hr.compensation.read'] }
                : {}),
            }),
          },
          render_letter: { run: ({ template }) => ({ letter, template, pages: 1 }) },
          issue_letter: {
            run: () =>
              w.broken
                ? fail(`Letter ${letter} is incomplete: annual salary is empty`, 'InvalidParams')
                : { letter, state: 'issued' },
          },
        },
        function* () {
          const employee = yield* ask('hr_get_employee', { id }, w.broken ? 'result' : undefined);
          yield* o.other();
          yield* ask('render_letter', {
            template: 'salary-certificate',
            name: who.name,
            annual_salary: employee.compensation?.annual ?? '',
          });
          yield* insist('issue_letter', { letter });
          return 'Issued.';
        },
      );
    },
  },
];
