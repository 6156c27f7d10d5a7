import { View } from "../bytes";

const ZERO: u8 = 0x30;

/** HTTP statuses by gRPC status, 1 to 16, as Envoy has them. */
const STATUSES: StaticArray<u16> = [499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];

/** The HTTP status that a `grpc-status` counts as; 0 for OK, 500 for what is none. */
export function httpStatusOf(grpcStatus: View): i32 {
  let number = 0;
  for (let i = 0; i < grpcStatus.length && i < 3; i++) {
    const digit = <i32>grpcStatus.at(i) - <i32>ZERO;
    if (digit < 0 || digit > 9) return 500;
    number = number * 10 + digit;
  }
  if (number == 0) return 0;
  return number <= STATUSES.length ? STATUSES[number - 1] : 500;
}
