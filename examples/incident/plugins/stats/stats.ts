/** Statistics over lists of numbers. */
import { ChassisError } from '@chassis/errors';
import { definePlugin } from '@chassis/sdk';

export default definePlugin({
  tools: {
    average({ amounts }: { amounts: (number | null)[] }) {
      const numbers = amounts.filter((amount) => amount !== null);
      if (numbers.length === 0) throw new ChassisError('InvalidParams', 'amounts holds no number to average');
      const sum = numbers.reduce((total, amount) => total + amount, 0);
      return {
        average: sum / numbers.length,
        count: numbers.length,
        left_out: amounts.length - numbers.length,
      };
    },
  },
});
