/**
 * The seventh set: agents at coding, operations and data work, by an author who has read no rule and no other set.
 *
 * Above each scenario stands what on the record shows the cause. The model's steps count where the model made the fault.
 */
import { choices } from './seventh/choices.ts';
import { data } from './seventh/data.ts';
import { order } from './seventh/order.ts';
import { quiet } from './seventh/quiet.ts';
import { results } from './seventh/results.ts';

export const shapesSeventh = [...results, ...choices, ...order, ...data];
export const unexplainedSeventh = quiet;
