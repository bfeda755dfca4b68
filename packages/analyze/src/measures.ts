/** Units that people and member names use for the same measure, and how they relate. */

interface Unit {
  readonly measure: string;
  /** How much of the measure's base it is. */
  readonly size: number;
}

const measures: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  bytes: {
    'b byte bytes': 1,
    'kb kib kilobyte kilobytes': 1024,
    'mb mib megabyte megabytes': 1024 ** 2,
    'gb gib gigabyte gigabytes': 1024 ** 3,
    'tb tib terabyte terabytes': 1024 ** 4,
  },
  time: {
    'ms millis millisecond milliseconds': 0.001,
    's sec secs second seconds': 1,
    'min mins minute minutes': 60,
    'h hr hrs hour hours': 3600,
    'd day days': 86_400,
    'week weeks': 604_800,
  },
  weight: {
    'mg milligram milligrams': 0.001,
    'g gram grams': 1,
    'kg kilo kilos kilogram kilograms': 1000,
    't tonne tonnes': 1_000_000,
    'lb lbs pound pounds': 453.592,
    'oz ounce ounces': 28.3495,
  },
  length: {
    'mm millimetre millimetres millimeter millimeters': 0.001,
    'cm centimetre centimetres centimeter centimeters': 0.01,
    'm metre metres meter meters': 1,
    'km kilometre kilometres kilometer kilometers': 1000,
    'ft foot feet': 0.3048,
    'mile miles': 1609.344,
    'inch inches': 0.0254,
  },
  money: { 'cent cents': 0.01, 'eur euro euros usd dollar dollars gbp pounds_sterling $ €': 1 },
  share: { 'ratio fraction share': 1, '% percent pct': 0.01, bps: 0.0001 },
  temperature: { 'c celsius °c': 1, 'f fahrenheit °f': 2, 'k kelvin': 3 },
};

const units = new Map<string, Unit>();
for (const [measure, sizes] of Object.entries(measures))
  for (const [names, size] of Object.entries(sizes))
    for (const name of names.split(' ')) units.set(name, { measure, size });

/** Whether two units are of one measure and not the same. */
export function areOther(a: string, b: string): boolean {
  const [x, y] = [units.get(a.toLowerCase()), units.get(b.toLowerCase())];
  return x !== undefined && x.measure === y?.measure && x.size !== y.size;
}
