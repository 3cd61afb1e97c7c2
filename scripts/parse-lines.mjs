// Parses every line of a file and does nothing with it: the least that any Node script does with a transcript.
import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

let records = 0;
for await (const line of createInterface({ input: createReadStream(process.argv[2], { highWaterMark: 1 << 20 }), crlfDelay: Infinity })) {
	if (line) JSON.parse(line);
	records++;
}
console.log(records);
