import * as salvo from "battleship-salvo";

function fire(view) {
  return view.untouched.sample(view.shots); // a complete, legal bot
}

salvo.run(fire);
