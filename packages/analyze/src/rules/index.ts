/** The list of suspicion rules. A new idea of what goes wrong is a new file and a line here. */
import { abridgedWrite } from './abridged-write.ts';
import { bornInModel } from './born-in-model.ts';
import { changedRetry } from './changed-retry.ts';
import { contradiction } from './contradiction.ts';
import { denied } from './denied.ts';
import { droppedPage } from './dropped-page.ts';
import { earlierFailure } from './earlier-failure.ts';
import { emptyResult } from './empty-result.ts';
import { failedHere } from './failed-here.ts';
import { fewerRows } from './fewer-rows.ts';
import { finishReason } from './finish-reason.ts';
import { firstAppearance } from './first-appearance.ts';
import { lacking } from './lacking.ts';
import { lateDuplicate } from './late-duplicate.ts';
import { leftOut } from './left-out.ts';
import { lostInstruction } from './lost-instruction.ts';
import { lostResult } from './lost-result.ts';
import { madeUpBefore } from './made-up-before.ts';
import { misreadArgument } from './misread-argument.ts';
import { misreadDate } from './misread-date.ts';
import { misreadList } from './misread-list.ts';
import { misreadNumber } from './misread-number.ts';
import { namedMark } from './named-mark.ts';
import { noProgress } from './no-progress.ts';
import { oddValue } from './odd-value.ts';
import { otherAnswer } from './other-answer.ts';
import { otherPlace } from './other-place.ts';
import { otherVersion } from './other-version.ts';
import { outOfOrder } from './out-of-order.ts';
import { ownCode } from './own-code.ts';
import { related } from './related.ts';
import { removedBefore } from './removed-before.ts';
import { repeatedCall } from './repeated-call.ts';
import { rowTwice } from './row-twice.ts';
import type { Rule } from './rule.ts';
import { saidExtent } from './said-extent.ts';
import { schemaBroken } from './schema-broken.ts';
import { skippedCall } from './skipped-call.ts';
import { staleRead } from './stale-read.ts';
import { swallowedError } from './swallowed-error.ts';
import { swapped } from './swapped.ts';
import { swappedEnds } from './swapped-ends.ts';
import { toldUnit } from './told-unit.ts';
import { truncated } from './truncated.ts';
import { undecoded } from './undecoded.ts';
import { unfinished } from './unfinished.ts';
import { unfitCall } from './unfit-call.ts';
import { unitBeside } from './unit-beside.ts';
import { unknownOutcome } from './unknown-outcome.ts';
import { unlikeEnd } from './unlike-end.ts';
import { unlikeGoodRun } from './unlike-good-run.ts';
import { unlikeOthers } from './unlike-others.ts';
import { unusableFailure } from './unusable-failure.ts';
import { warned } from './warned.ts';
import { wrongChoice } from './wrong-choice.ts';
import { wrongContent } from './wrong-content.ts';
import { wrongEcho } from './wrong-echo.ts';
import { wrongOrder } from './wrong-order.ts';
import { wrongSum } from './wrong-sum.ts';
import { wrongUnit } from './wrong-unit.ts';

export const rules: readonly Rule[] = [
  unlikeGoodRun,
  schemaBroken,
  unfitCall,
  denied,
  lacking,
  oddValue,
  wrongUnit,
  wrongSum,
  toldUnit,
  unitBeside,
  undecoded,
  misreadNumber,
  misreadList,
  misreadArgument,
  misreadDate,
  truncated,
  saidExtent,
  unlikeEnd,
  fewerRows,
  skippedCall,
  droppedPage,
  swallowedError,
  warned,
  unfinished,
  leftOut,
  wrongContent,
  wrongOrder,
  otherPlace,
  otherVersion,
  wrongChoice,
  namedMark,
  removedBefore,
  wrongEcho,
  otherAnswer,
  contradiction,
  swapped,
  swappedEnds,
  unlikeOthers,
  staleRead,
  lateDuplicate,
  outOfOrder,
  rowTwice,
  abridgedWrite,
  changedRetry,
  finishReason,
  lostInstruction,
  lostResult,
  bornInModel,
  madeUpBefore,
  firstAppearance,
  unknownOutcome,
  repeatedCall,
  noProgress,
  emptyResult,
  earlierFailure,
  unusableFailure,
  ownCode,
  failedHere,
  related,
];
